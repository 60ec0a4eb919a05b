#include "client/run/job/start_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cgpu::client {

std::vector<char*> as_exec_takes(const std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    pointers.reserve(strings.size() + 1);
    for (const std::string& each : strings) pointers.push_back(const_cast<char*>(each.c_str()));
    pointers.push_back(nullptr);
    return pointers;
}

ClientError start_command(const std::vector<std::string>& command) {
    const auto arguments = as_exec_takes(command);
    execvp(arguments.front(), arguments.data());
    const int error = errno;
    return {error == ENOENT ? ClientError::Kind::no_command : ClientError::Kind::bad_command,
            command.front() + ": " + std::strerror(error) +
                ". Try: use its full path, or check that it is executable."};
}

}  // namespace cgpu::client
