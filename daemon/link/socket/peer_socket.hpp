#pragma once

#include <utility>

#include "files/descriptor.hpp"

namespace cgpu::link {

/// An accepted socket. Whoever is at its other end can send descriptors with any packet, and one that is
/// dropped unread is closed by whoever drops it: by recv(2) without a buffer for it, and by the close(2) of
/// the socket in whose queue it lies. Such a close can take for ever (see close_apart).
class PeerSocket {
  public:
    explicit PeerSocket(Descriptor socket) : socket_(std::move(socket)) {}
    PeerSocket(PeerSocket&&) = default;
    PeerSocket& operator=(PeerSocket&&) = delete;
    PeerSocket(const PeerSocket&) = delete;
    PeerSocket& operator=(const PeerSocket&) = delete;
    /// Doesn't wait, whatever is unread.
    ~PeerSocket();

    [[nodiscard]] int fd() const { return socket_.fd(); }
    /// Whether the next packet has descriptors with it, which recv(2) would close. False also if there is
    /// none.
    [[nodiscard]] bool next_has_files() const;

  private:
    Descriptor socket_;
};

}  // namespace cgpu::link
