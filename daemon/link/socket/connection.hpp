#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/wire/message.hpp"
#include "daemon/link/base/file.hpp"
#include "daemon/link/pages/pages.hpp"

namespace cgpu::link {

class Connection;

/// Who gets what comes over a connection.
class ConnectionOwner {
  public:
    virtual ~ConnectionOwner() = default;
    virtual void packet(Connection& connection, std::span<const std::byte> packet) = 0;
    /// It is of no use any more; forget it, but not before this call has returned.
    virtual void dropped(Connection& connection) = 0;
};

/// One accepted socket. Never blocks: a peer that doesn't read until its socket is full loses the connection.
class Connection {
  public:
    /// Takes the descriptor. `number`: tells it from the instance's others, earlier ones too.
    Connection(File socket, std::uint64_t number, model::Process process, app::Loop& loop,
               ConnectionOwner& owner);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// How sure it is that a pid is still that of who connected.
    enum class Peer {
        held,    ///< a pidfd of the peer says so, where the kernel gives one (Linux 6.5)
        by_pid,  ///< as on older kernels: a pid that was used again since is taken for the peer
    };
    /// Who connected, by the kernel's word. Nothing: it has ended.
    [[nodiscard]] static std::optional<model::Process> peer_of(int fd, app::Processes& processes,
                                                               Peer peer = Peer::held);
    [[nodiscard]] std::uint64_t number() const { return number_; }
    [[nodiscard]] const model::Process& process() const { return process_; }
    [[nodiscard]] bool usable() const { return !dropped_; }

    /// Sends a message with descriptors. False: it couldn't be sent, and the connection is dropped.
    template <class M>
    bool send(const M& message, std::span<const int> fds = {}) {
        return send_bytes(std::as_bytes(std::span(&message, 1)), fds);
    }
    /// Says why, and drops the connection.
    void refuse(wire::Why why, std::string_view text);
    void drop();

    /// Drops it unless welcomed() comes before then.
    void expect_hello(app::Nanos deadline);
    void welcomed(wire::Role role, std::optional<OrdersPage> orders);
    /// Nothing: it hasn't said Hello.
    [[nodiscard]] std::optional<wire::Role> role() const { return role_; }
    /// From now on, descriptors that come with packets are kept; until then the kernel drops them.
    void expect_files() { takes_files_ = true; }
    /// What came with the packet that is being looked at.
    [[nodiscard]] std::vector<File> take_files() { return std::exchange(files_, {}); }
    /// Of an observer.
    [[nodiscard]] std::optional<OrdersPage>& orders() { return orders_; }

    std::size_t waiting_asks = 0;

  private:
    void ready(std::uint32_t events);
    ssize_t receive(std::span<std::byte> buffer);
    bool send_bytes(std::span<const std::byte> bytes, std::span<const int> fds);

    File socket_;  // before the watch, which goes first
    std::uint64_t number_;
    model::Process process_;
    app::Loop& loop_;
    ConnectionOwner& owner_;
    bool dropped_ = false;
    bool takes_files_ = false;
    std::vector<File> files_;
    std::optional<wire::Role> role_;
    std::optional<OrdersPage> orders_;
    app::WatchPtr hello_timer_;
    app::WatchPtr watch_;
};

}  // namespace cgpu::link
