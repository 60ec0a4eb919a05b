#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "daemon/app/ports/ports.hpp"
#include "daemon/link/socket/kept_socket.hpp"

namespace cgpu::link {

/// The listening socket of one instance, in a folder that containers have mounted: the folder is created once
/// and stays the same directory over restarts of the daemon. So does the socket, if it was kept; otherwise
/// each daemon creates it again.
class Listener {
  public:
    /// Folder 0755, socket 0666: every process that sees the folder may connect. Refused (storage) with the
    /// reason.
    static app::Result<std::unique_ptr<Listener>> open(const std::filesystem::path& folder, KeptSocket kept);
    /// Doesn't wait, whatever those have sent that nobody has accepted yet.
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Passes on each accepted descriptor (close-on-exec, non-blocking).
    void start(app::Loop& loop, std::function<void(int)> accepted);
    /// The instance has ended: the socket is no longer kept for a later daemon.
    void forget() { kept_.forget(); }

  private:
    Listener(Descriptor socket, KeptSocket kept) : socket_(std::move(socket)), kept_(std::move(kept)) {}
    void accept_some();

    Descriptor socket_;
    KeptSocket kept_;
    app::Loop* loop_ = nullptr;
    std::function<void(int)> accepted_;
    app::WatchPtr watch_;
    app::WatchPtr pause_;
};

}  // namespace cgpu::link
