#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "daemon/app/events/event.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// Limits how often the same thing is told. The first event is told at once. Those that follow within a pause
/// are counted, and the last of them is told at the end of the pause with the count of all since the one
/// before. The pause begins with kFirstPause and doubles up to kLongestPause while events go on; one pause
/// without any ends the series. So no event is lost from the counts, and a program that tries again without
/// pause causes six events in the first half minute and one a minute afterwards.
class Repeated {
  public:
    static constexpr Nanos kFirstPause = kSecond;
    static constexpr Nanos kLongestPause = 60 * kSecond;

    using Tell = std::function<void(Event)>;

    Repeated(Loop& loop, Tell tell) : loop_(loop), tell_(std::move(tell)) {}
    ~Repeated();
    Repeated(const Repeated&) = delete;
    Repeated& operator=(const Repeated&) = delete;

    /// Sets the detail `count`, and adds it to the message if it is more than one.
    void happened(Event event);
    /// Nothing is counted, and the next event will be told at once.
    [[nodiscard]] bool quiet() const { return timer_ == nullptr; }

  private:
    void pause_over();
    void tell(Event event, std::uint64_t count);

    Loop& loop_;
    Tell tell_;
    std::optional<Event> last_;  ///< of those that were counted
    std::uint64_t counted_ = 0;
    Nanos pause_ = kFirstPause;
    WatchPtr timer_;  ///< while a pause lasts
};

}  // namespace cgpu::app
