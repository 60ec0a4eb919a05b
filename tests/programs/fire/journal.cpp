#include "tests/programs/fire/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>

namespace programs::fire {

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sleep_ns(std::int64_t duration) {
    const timespec time{duration / 1'000'000'000, duration % 1'000'000'000};
    nanosleep(&time, nullptr);
}

Journal::Journal(const std::string& path)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), path);
}

void Journal::note(const std::string& line) const {
    const std::string whole = '\n' + line + " .\n";
    if (write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) _exit(3);
}

void Journal::failed(const std::string& call, int result) const {
    note("failed " + std::to_string(getpid()) + ' ' + std::to_string(now_ns()) + ' ' + call + ' ' +
         std::to_string(result));
}

}  // namespace programs::fire
