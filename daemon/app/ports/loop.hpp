#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/model/nanos.hpp"

namespace cgpu::app {

// Times are on CLOCK_MONOTONIC.
using model::kMicro;
using model::kMilli;
using model::kSecond;
using model::Nanos;

/// A watch; it ends when its owner drops it.
class Watch {
  public:
    virtual ~Watch() = default;
    /// Of a process's end, some time after it has ended: whether a signal has killed it. False also if the
    /// kernel doesn't say (before Linux 6.15, and until the parent has taken notice).
    [[nodiscard]] virtual bool killed() const { return false; }
};
using WatchPtr = std::unique_ptr<Watch>;

/// The daemon's one event loop, as its rooms see it; system::EventLoop implements it. All callbacks run on
/// the loop's thread; only `post` may be called from another thread.
class Loop {
  public:
    /// What a library with a descriptor of its own (sd-bus) needs before each wait.
    struct Wanted {
        std::uint32_t events;  ///< EPOLLIN | …
        Nanos deadline;        ///< absolute; max: none
    };

    virtual ~Loop() = default;
    /// Calls back with the epoll events that occurred.
    virtual WatchPtr watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> call) = 0;
    /// Asks `wanted` before every wait and calls `dispatch` when the descriptor is ready or the deadline has
    /// come.
    virtual WatchPtr watch_asking(int fd, std::function<Wanted()> wanted, std::function<void()> dispatch) = 0;
    /// Once, at or after `when`.
    virtual WatchPtr at(Nanos when, std::function<void()> call) = 0;
    /// Runs `call` on the loop's thread soon; from any thread.
    virtual void post(std::function<void()> call) = 0;
    virtual Nanos now() const = 0;
};

}  // namespace cgpu::app
