#include "daemon/link/socket/connection.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cgpu::link {
namespace {

/// Packets of one connection before the others get their turn.
constexpr int kPacketsPerTurn = 16;
/// Packets of a peer that has ended: more than its socket holds.
constexpr int kMostOfRest = 4096;
/// SO_PEERPIDFD, which older headers lack.
constexpr int kPeerPidfd = 77;
constexpr std::size_t kMostFds = 4;

}  // namespace

Connection::Connection(PeerSocket socket, std::uint64_t number, model::Process process, app::Loop& loop,
                       ConnectionOwner& owner)
    : socket_(std::move(socket)), number_(number), process_(std::move(process)), loop_(loop), owner_(owner) {
    watch_ = loop_.watch(socket_.fd(), EPOLLIN, [this](std::uint32_t events) { ready(events); });
}

std::optional<model::Process> Connection::peer_of(int fd, app::Processes& processes, Peer peer) {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    int pidfd = -1;
    size = sizeof pidfd;
    const bool held = peer == Peer::held && getsockopt(fd, SOL_SOCKET, kPeerPidfd, &pidfd, &size) == 0;
    if (peer == Peer::held && !held && errno != ENOPROTOOPT) return std::nullopt;  // it has been reaped
    const Descriptor holder(pidfd);
    auto process = processes.identify(credentials.pid);
    if (!process) return std::nullopt;
    // It is still alive after its pid was read, so no other process had the pid meanwhile.
    pollfd ended{holder.fd(), POLLIN, 0};
    if (held && poll(&ended, 1, 0) != 0) return std::nullopt;
    return *process;
}

std::optional<std::uint32_t> Connection::peer_user() const {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (getsockopt(socket_.fd(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return std::nullopt;
    return credentials.uid;
}

bool Connection::receive() {
    if (socket_.next_has_files()) {
        owner_.packet(*this, {});
        drop();
        return false;
    }
    std::array<std::byte, wire::kLargestMessage> buffer;
    ssize_t got = 0;
    do {
        got = recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN) return false;
    // An empty packet can't be told from the end; in both cases nothing more follows.
    if (got <= 0) {
        drop();
        return false;
    }
    // A longer packet was truncated; its true length shows that it is not a valid one.
    const auto length = static_cast<std::size_t>(got);
    owner_.packet(*this, length <= buffer.size() ? std::span<const std::byte>(buffer.data(), length)
                                                 : std::span<const std::byte>());
    return !dropped_;
}

void Connection::ready(std::uint32_t events) {
    for (int i = 0; i < kPacketsPerTurn && watch_ && receive(); ++i) {
    }
    if ((events & EPOLLERR) != 0) drop();
}

void Connection::read_rest() {
    // Whoever has inherited the socket may still send.
    closed_by_peer_ = true;
    for (int i = 0; i < kMostOfRest && role_ && watch_ && !dropped_ && receive(); ++i) {
    }
}

bool Connection::send_bytes(std::span<const std::byte> bytes, std::span<const int> fds) {
    if (dropped_ || closed_by_peer_ || fds.size() > kMostFds) return false;
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    ssize_t sent = 0;
    do {
        sent = sendmsg(socket_.fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent == static_cast<ssize_t>(bytes.size())) return true;
    // What it sent before counts: memory that it has exported lives on. The end of it drops the connection.
    closed_by_peer_ = sent < 0 && errno == EPIPE && watch_ != nullptr;
    if (!closed_by_peer_) drop();
    return false;
}

void Connection::refuse(wire::Why why, std::string_view text) {
    auto message = wire::make_message<wire::Refused>();
    message.why = why;
    wire::put_text(message.text, text);
    send(message);
    drop();
}

void Connection::drop() {
    if (dropped_) return;
    dropped_ = true;
    hello_timer_.reset();
    // Closing a socket with unread packets would give the peer ECONNRESET before the last message.
    std::array<std::byte, wire::kLargestMessage> unread;
    for (int i = 0; i < kPacketsPerTurn; ++i)
        if (socket_.next_has_files() || recv(socket_.fd(), unread.data(), unread.size(), MSG_DONTWAIT) <= 0)
            break;
    shutdown(socket_.fd(), SHUT_RDWR);
    // Otherwise the loop would find the socket ready again and again, until its turn ends.
    watch_.reset();
    owner_.dropped(*this);
}

void Connection::expect_hello(app::Nanos deadline) {
    hello_timer_ = loop_.at(deadline, [this] { drop(); });
}

void Connection::welcomed(wire::Role role, std::optional<OrdersPage> orders) {
    hello_timer_.reset();
    role_ = role;
    if (orders) orders_.emplace(std::move(*orders));
}

}  // namespace cgpu::link
