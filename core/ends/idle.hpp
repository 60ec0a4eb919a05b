#pragma once

#include <cstdint>
#include <optional>

#include "core/model/nanos.hpp"

namespace cgpu::ends {

using model::Nanos;

/// What an instance has done on all its GPUs so far. Empty: it is at work now, or that can't be known.
struct Work {
    std::uint64_t launches = 0;
    std::uint64_t gpu_time = 0;  ///< nanoseconds
    std::uint64_t waited = 0;    ///< nanoseconds that launches waited

    friend bool operator==(const Work&, const Work&) = default;
};

/// Since when an instance has no work, as far as was seen: it is looked at now and then, and what it did
/// since the last look counts until this one, so nobody is idle too soon.
struct Idle {
    std::optional<Work> work;  ///< at the last look
    Nanos since = 0;
    Nanos look_at = 0;  ///< the next time
    bool told = false;  ///< that it ends soon, unless it works

    friend bool operator==(const Idle&, const Idle&) = default;
};

/// The first look. `seconds`: for how long it may be without work.
[[nodiscard]] Idle first_look(const std::optional<Work>& work, std::uint64_t seconds, Nanos now);
[[nodiscard]] Idle next_look(const Idle& before, const std::optional<Work>& work, std::uint64_t seconds,
                             Nanos now);
/// When it has had no work for so long, if it has none until then.
[[nodiscard]] Nanos ends_at(const Idle& idle, std::uint64_t seconds);
/// Whether it had no work for so long, at the last look.
[[nodiscard]] bool is_over(const Idle& idle, std::uint64_t seconds, Nanos now);
/// Whether that is near, and wasn't told yet. Who asks for less than `soon` knows that it ends soon.
[[nodiscard]] bool is_to_tell(const Idle& idle, std::uint64_t seconds, Nanos soon, Nanos now);

}  // namespace cgpu::ends
