#include "tests/unit/daemon/link/support/link_puppet.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace cgpu::link::test {

Puppet::Puppet(PollLoop& loop) : loop_(loop) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        throw std::runtime_error("socketpair");
    pid_ = fork();
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        // The child holds none of the daemon's descriptors.
        for (int fd = 3; fd < 1024; ++fd)
            if (fd != pair[1]) close(fd);
        live(pair[1]);
    }
    close(pair[1]);
    control_ = pair[0];
}

Puppet::~Puppet() {
    kill();
    close(control_);
}

void Puppet::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void Puppet::live(int control) {
    Front front;
    for (;;) {
        pollfd ready[2] = {{control, POLLIN, 0}, {front.fd, POLLIN, 0}};
        poll(ready, front.fd >= 0 ? 2 : 1, -1);
        if (front.fd >= 0 && ready[1].revents != 0 && front.receive().empty()) front.disconnect();
        if ((ready[0].revents & (POLLIN | POLLHUP)) == 0) continue;
        Order order;
        if (read(control, &order, sizeof order) != sizeof order) _exit(0);
        const auto result = order.call(front, order);
        if (write(control, &result, sizeof result) != sizeof result) _exit(0);
    }
}

void Puppet::start(const Order& order) {
    if (write(control_, &order, sizeof order) != sizeof order) throw std::runtime_error("puppet is gone");
}

std::optional<std::uint64_t> Puppet::result() {
    std::uint64_t value = 0;
    if (recv(control_, &value, sizeof value, MSG_DONTWAIT) != sizeof value) return std::nullopt;
    return value;
}

std::uint64_t Puppet::tell(const Order& order) {
    start(order);
    std::optional<std::uint64_t> value;
    if (!loop_.run_until([&] { return (value = result()).has_value(); }))
        throw std::runtime_error("no result from the puppet");
    return *value;
}

bool Puppet::connect(const std::string& socket, wire::Role role) {
    Order order{[](Front& front, const Order& o) -> std::uint64_t {
                    return front.connect(o.text) &&
                           front.hello(static_cast<wire::Role>(o.number)) == wire::Why::none;
                },
                static_cast<std::uint64_t>(role)};
    wire::put_text(order.text, socket);
    return tell(order) == 1;
}

std::uint64_t Puppet::ask(std::uint64_t bytes) {
    return tell({[](Front& front, const Order& o) -> std::uint64_t {
                     const auto answer = front.ask(wire::Topic::lease, o.number);
                     return answer ? answer->granted_bytes : 0;
                 },
                 bytes});
}

void Puppet::charge(std::uint64_t bytes) {
    tell({[](Front& front, const Order& o) -> std::uint64_t {
              front.charge(o.number);
              return 0;
          },
          bytes});
}

std::uint64_t Puppet::lease() {
    return tell({[](Front& front, const Order&) -> std::uint64_t { return front.lease; }});
}

}  // namespace cgpu::link::test
