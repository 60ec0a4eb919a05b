#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::link {

/// The listening socket of one instance, in a folder that containers have mounted: the folder is made once
/// and stays the same directory over restarts of the daemon, the socket in it is made anew by each.
class Listener {
  public:
    /// Folder 0755, socket 0666: whoever sees the folder may connect. Refused (storage) with the reason.
    static app::Result<std::unique_ptr<Listener>> open(const std::filesystem::path& folder);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Hands over each accepted descriptor (close-on-exec, non-blocking).
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
