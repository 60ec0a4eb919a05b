#include "daemon/link/socket/peer_socket.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "daemon/link/base/apart.hpp"

namespace cgpu::link {
namespace {

/// Whether something comes with the next packet that wants a buffer; false also if there is no packet. The
/// packet stays where it is.
bool next_has_more(int socket) {
    // The first call may report how the peer has ended, and says nothing of the packets that it has left.
    for (int i = 0; i < 2; ++i) {
        msghdr nothing{};
        if (recvmsg(socket, &nothing, MSG_PEEK | MSG_DONTWAIT) >= 0)
            return (nothing.msg_flags & MSG_CTRUNC) != 0;
        if (errno == EAGAIN) return false;
    }
    return true;
}

/// Of a socket to which nothing more can be sent.
bool has_unread(int socket) {
    // With it, credentials come with each packet, also with an empty one, which looks like the end otherwise.
    const int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 || next_has_more(socket);
}

}  // namespace

PeerSocket::~PeerSocket() {
    if (!socket_) return;
    shutdown(socket_.fd(), SHUT_RDWR);
    if (has_unread(socket_.fd())) close_apart(std::move(socket_));
}

bool PeerSocket::next_has_files() const { return next_has_more(socket_.fd()); }

}  // namespace cgpu::link
