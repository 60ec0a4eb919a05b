#pragma once

#include <filesystem>
#include <vector>

#include <sys/types.h>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::gpu {

constexpr const char* kReaderProgram = "/usr/libexec/cgpu/cgpu-nvml";

/// Starts cgpu-nvml, the one process that loads NVIDIA's management library and opens the GPUs' nodes. Each
/// connection has a process of its own, which ends when cgpud closes it.
class ReaderProcess {
  public:
    /// `socket`: where systemd starts one for each connection (cgpu-nvml.socket). Empty: `program` is started
    /// as a child, with the rights of this process.
    ReaderProcess(std::filesystem::path socket, std::filesystem::path program);
    /// Doesn't wait for children that hang in the driver.
    ~ReaderProcess();
    ReaderProcess(const ReaderProcess&) = delete;
    ReaderProcess& operator=(const ReaderProcess&) = delete;

    /// A stream socket, non-blocking, which the caller closes. Refused: nothing listens, or the program can't
    /// be started.
    app::Result<int> start();

  private:
    app::Result<int> connect_to_service() const;
    app::Result<int> start_child();
    void reap();

    std::filesystem::path socket_;
    std::filesystem::path program_;
    std::vector<pid_t> children_;  ///< that may not have ended, or whose end was not collected
};

}  // namespace cgpu::gpu
