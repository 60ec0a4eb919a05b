#include "client/run/job/start_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cgpu::client {

ClientError start_command(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments.front(), arguments.data());
    const int error = errno;
    return {error == ENOENT ? ClientError::Kind::no_command : ClientError::Kind::bad_command,
            command.front() + ": " + std::strerror(error) +
                ". Try: its full path, or whether it may be executed."};
}

}  // namespace cgpu::client
