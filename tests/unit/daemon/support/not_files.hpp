#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

namespace cgpu::test {

/// What may lie where a file is expected, and why it can't be read.
struct NotFile {
    std::string name;
    std::string why;
    std::function<bool(const char*)> make;
};

inline bool make_socket(const char* path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name(path);
    if (name.size() >= sizeof address.sun_path) return false;
    name.copy(address.sun_path, name.size());
    const bool made = ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return made;
}

/// Calls back with one of each kind at `path`, which is removed afterwards. Whoever opens the pipe as a file
/// waits for ever: nobody writes into it.
inline void for_each_not_file(const std::filesystem::path& path,
                              const std::function<void(const NotFile&)>& call) {
    const auto pipe = path.native() + ".pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const NotFile all[] = {
        {"a pipe", "it is a pipe, not a file", [](const char* at) { return mkfifo(at, 0600) == 0; }},
        {"a folder", "it is a folder, not a file", [](const char* at) { return mkdir(at, 0700) == 0; }},
        {"a socket", "it is a socket, not a file", make_socket},
        {"a link to a device", "it is a device, not a file",
         [](const char* at) { return symlink("/dev/zero", at) == 0; }},
        {"a link to a pipe", "it is a pipe, not a file",
         [&](const char* at) { return symlink(pipe.c_str(), at) == 0; }},
        {"a dangling link", "it is a symbolic link that leads nowhere",
         [](const char* at) { return symlink("/nonexistent/x", at) == 0; }},
    };
    for (const NotFile& each : all) {
        SCOPED_TRACE(each.name);
        ASSERT_TRUE(each.make(path.c_str()));
        call(each);
        std::filesystem::remove_all(path);
    }
    std::filesystem::remove(pipe);
}

}  // namespace cgpu::test
