#pragma once

#include <cstdint>
#include <map>

#include "daemon/app/events/repeated_by_user.hpp"

namespace cgpu::link {

/// How many lines of the log the instances of one user cause, all together: whoever may run jobs can have one
/// after the other, so a bound for each instance alone is none. Root's aren't bounded: an engine's containers
/// are all root's.
class UserLines {
  public:
    static constexpr std::uint32_t kMost = 60;
    static constexpr app::Nanos kWindow = 60 * app::kSecond;

    explicit UserLines(const app::Loop& loop) : loop_(loop) {}

    /// Whether one more line may be written now.
    [[nodiscard]] bool take(std::uint32_t user);
    /// So many weren't written; that is told once, with the user's first line after the minute.
    void left_out(std::uint32_t user, std::uint64_t lines);

  private:
    struct Window {
        app::Nanos began = 0;
        std::uint32_t lines = 0;
        std::uint64_t left_out = 0;
    };

    const app::Loop& loop_;
    std::map<std::uint32_t, Window> windows_;
};

/// What processes of instances cause to be told, bounded for each user.
struct Told {
    Told(app::Loop& loop, app::Events& events)
        : lines(loop), unreachable(loop, events), refusals(loop, events) {}

    UserLines lines;
    app::RepeatedByUser unreachable;  ///< programs that get no driver
    app::RepeatedByUser refusals;     ///< of allocations
};

}  // namespace cgpu::link
