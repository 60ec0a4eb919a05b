#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/instance_id.hpp"
#include "core/model/nanos.hpp"
#include "core/model/owner.hpp"

namespace cgpu::model {

/// How long an instance may be there.
struct TimeLimit {
    std::uint64_t seconds = 0;  ///< in all, with what it was extended by
    /// When it is over, on the monotonic clock of the boot, so that nobody who sets the clock changes it. An
    /// instance doesn't outlive a boot.
    Nanos ends = 0;
    bool over = false;    ///< it is over, and the processes were asked to end
    bool closed = false;  ///< and the grace after that: it computes nothing any more

    friend bool operator==(const TimeLimit&, const TimeLimit&) = default;
};

/// How long an instance may be without work on its GPUs.
struct IdleLimit {
    std::uint64_t seconds = 0;
    Nanos ended = 0;  ///< when it had been without work for so long, as `ends` of a time limit; 0: it wasn't
    bool closed = false;  ///< so is the grace after that: it computes nothing any more

    [[nodiscard]] bool over() const { return ended != 0; }
    friend bool operator==(const IdleLimit&, const IdleLimit&) = default;
};

/// An instance that has ended when its time was over, or when it was without work for too long. Its engine
/// may start it again, which is refused.
struct Spent {
    InstanceId id;
    std::string name;
    Owner owner;
    std::uint64_t seconds = 0;  ///< that it had; 0: it had no time limit
    /// It may be started again, for so many seconds; 0: it may not.
    std::uint64_t granted = 0;
    std::uint64_t idle = 0;  ///< seconds that it was without work; 0: its time was over

    friend bool operator==(const Spent&, const Spent&) = default;
};

/// The oldest first.
using SpentList = std::vector<Spent>;

/// No engine tells that a container is removed, so the oldest are forgotten.
constexpr std::size_t kMostSpent = 256;

}  // namespace cgpu::model
