#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "tests/peer/front.hpp"
#include "tests/unit/daemon/link/support/link_loop.hpp"

namespace cgpu::link::test {

/// A process of its own with a Front in it, which carries out the test's orders. Between two orders it
/// answers recalls.
class Puppet {
  public:
    struct Order {
        /// No captures: it runs in the child, which has the same code at the same place.
        std::uint64_t (*call)(Front& front, const Order& order) = nullptr;
        std::uint64_t number = 0;
        char text[200] = {};
    };

    explicit Puppet(PollLoop& loop);
    ~Puppet();
    Puppet(const Puppet&) = delete;
    Puppet& operator=(const Puppet&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    void start(const Order& order);
    /// The result of the order that was started, once it has arrived.
    std::optional<std::uint64_t> result();
    /// Starts it and lets the daemon run until the result has arrived. Throws if none does.
    std::uint64_t tell(const Order& order);
    void kill();

    // What most tests want.
    bool connect(const std::string& socket, wire::Role role = wire::Role::compute);
    /// The bytes granted.
    std::uint64_t ask(std::uint64_t bytes);
    void charge(std::uint64_t bytes);
    std::uint64_t lease();

  private:
    [[noreturn]] static void live(int control);

    PollLoop& loop_;
    pid_t pid_ = -1;
    int control_ = -1;
};

}  // namespace cgpu::link::test
