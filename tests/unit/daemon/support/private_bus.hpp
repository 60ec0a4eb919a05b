#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::test {

/// A dbus-daemon of this test, which is its system bus meanwhile. Processes of the same user may do
/// everything.
class PrivateBus {
  public:
    /// `limits`: further elements of its configuration.
    explicit PrivateBus(const std::string& limits = "") {
        const auto config = folder_.path() / "bus.conf";
        std::ofstream(config) << "<busconfig><type>session</type><listen>unix:path=" +
                                     (folder_.path() / "bus").string() +
                                     "</listen><auth>EXTERNAL</auth><policy context=\"default\">"
                                     "<allow send_destination=\"*\"/><allow receive_type=\"method_call\"/>"
                                     "<allow receive_type=\"method_return\"/><allow receive_type=\"error\"/>"
                                     "<allow receive_type=\"signal\"/><allow own=\"*\"/>"
                                     "</policy>" +
                                     limits + "</busconfig>";
        std::array<int, 2> ends{};
        if (pipe(ends.data()) != 0) throw std::runtime_error("pipe");
        pid_ = fork();
        if (pid_ == 0) {
            dup2(ends[1], STDOUT_FILENO);
            execlp("dbus-daemon", "dbus-daemon", ("--config-file=" + config.string()).c_str(), "--nofork",
                   "--nopidfile", "--nosyslog", "--print-address", nullptr);
            _exit(127);
        }
        close(ends[1]);
        // It prints its address once it listens.
        std::array<char, 512> line{};
        const auto size = read(ends[0], line.data(), line.size() - 1);
        close(ends[0]);
        if (size <= 0) throw std::runtime_error("dbus-daemon did not start");
        const std::string address(line.data(), static_cast<std::size_t>(size));
        setenv("DBUS_SYSTEM_BUS_ADDRESS", address.substr(0, address.find('\n')).c_str(), 1);
    }
    ~PrivateBus() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    }
    PrivateBus(const PrivateBus&) = delete;
    PrivateBus& operator=(const PrivateBus&) = delete;

  private:
    TempFolder folder_;
    pid_t pid_ = -1;
};

}  // namespace cgpu::test
