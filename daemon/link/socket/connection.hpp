#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/wire/message.hpp"
#include "daemon/link/pages/pages.hpp"
#include "daemon/link/socket/peer_socket.hpp"

namespace cgpu::link {

class Connection;

/// Receives the packets of a connection.
class ConnectionOwner {
  public:
    virtual ~ConnectionOwner() = default;
    /// Empty: it is too long, or descriptors came with it, which no packet has that is received here.
    virtual void packet(Connection& connection, std::span<const std::byte> packet) = 0;
    /// The connection can't be used any more; remove it, but not before this call has returned.
    virtual void dropped(Connection& connection) = 0;
};

/// One accepted socket. Never blocks: a peer that doesn't read until its socket is full loses the connection.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    /// Descriptors that a process takes beside its connections, if it computes: a pidfd and two pages.
    static constexpr std::size_t kDescriptorsOfProcess = 3;

    /// `number`: unique among the instance's connections, earlier ones included.
    Connection(PeerSocket socket, std::uint64_t number, model::Process process, app::Loop& loop,
               ConnectionOwner& owner);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// How certain it is that a pid still belongs to the peer.
    enum class Peer {
        held,    ///< by a pidfd of the peer, if the kernel provides it (Linux 6.5)
        by_pid,  ///< as on older kernels: a pid that was used again is taken for the peer
    };
    /// The peer, as the kernel reports it. Empty: it has ended.
    [[nodiscard]] static std::optional<model::Process> peer_of(int fd, app::Processes& processes,
                                                               Peer peer = Peer::held);
    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] const model::Process& process() const { return process_; }
    /// The user id that the peer had when it connected, as the kernel reports it; empty: it doesn't.
    [[nodiscard]] std::optional<std::uint32_t> peer_user() const;
    [[nodiscard]] bool usable() const { return !dropped_; }

    /// Sends a message with descriptors. False: it couldn't be sent. The connection is then dropped, or, if
    /// the peer has closed its end, when all that it has sent before is read.
    template <class M>
    bool send(const M& message, std::span<const int> fds = {}) {
        return send_bytes(std::as_bytes(std::span(&message, 1)), fds);
    }
    /// Sends the reason, and drops the connection.
    void refuse(wire::Why why, std::string_view text);
    void drop();
    /// The peer has ended: passes on what it has sent before. Nothing can be sent to it any more.
    void read_rest();

    /// Drops the connection unless welcomed() comes before the deadline.
    void expect_hello(app::Nanos deadline);
    void welcomed(wire::Role role, std::optional<OrdersPage> orders);
    /// Empty: it hasn't sent Hello.
    [[nodiscard]] std::optional<wire::Role> role() const { return role_; }
    /// The descriptors that it takes: the socket, and an observer's page; before Hello, as many as it may
    /// lead to.
    [[nodiscard]] std::size_t descriptors() const {
        return 1 + (role_ ? std::size_t{orders_.has_value()} : kDescriptorsOfProcess);
    }
    /// Reads no further packets: somebody else reads them, from the descriptor that is returned.
    [[nodiscard]] int leave_reading() {
        watch_.reset();
        return socket_.fd();
    }
    /// Of an observer.
    [[nodiscard]] std::optional<OrdersPage>& orders() { return orders_; }

    std::size_t waiting_asks = 0;

  private:
    void ready(std::uint32_t events);
    /// Passes on the next packet. False: there is none now.
    bool receive();
    bool send_bytes(std::span<const std::byte> bytes, std::span<const int> fds);

    PeerSocket socket_;  // before the watch, which goes first
    std::uint64_t number_;
    model::Process process_;
    app::Loop& loop_;
    ConnectionOwner& owner_;
    bool dropped_ = false;
    bool closed_by_peer_ = false;
    std::optional<wire::Role> role_;
    std::optional<OrdersPage> orders_;
    app::WatchPtr hello_timer_;
    app::WatchPtr watch_;
};

}  // namespace cgpu::link
