#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::link {

/// The listening socket of one instance, in a folder that containers have mounted: the folder is created once
/// and stays the same directory over restarts of the daemon; each daemon creates the socket in it again.
class Listener {
  public:
    /// Folder 0755, socket 0666: every process that sees the folder may connect. Refused (storage) with the
    /// reason.
    static app::Result<std::unique_ptr<Listener>> open(const std::filesystem::path& folder);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Passes on each accepted descriptor (close-on-exec, non-blocking).
    void start(app::Loop& loop, std::function<void(int)> accepted);

  private:
    explicit Listener(int fd) : fd_(fd) {}
    void accept_some();

    int fd_;
    app::Loop* loop_ = nullptr;
    std::function<void(int)> accepted_;
    app::WatchPtr watch_;
    app::WatchPtr pause_;
};

}  // namespace cgpu::link
