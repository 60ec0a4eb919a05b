#pragma once

#include <cstdint>
#include <optional>

#include "core/model/nanos.hpp"
#include "core/model/time_limit.hpp"

namespace cgpu::ends {

using model::Nanos;

/// Of all instances.
struct Settings {
    Nanos soon = 600 * model::kSecond;  ///< so long before the end it is announced; 0: it isn't
    Nanos grace = 30 * model::kSecond;  ///< from the end to the one by force

    friend bool operator==(const Settings&, const Settings&) = default;
};

enum class Step {
    none,
    tell_soon,  ///< its end is near
    end,        ///< its time is over: its processes are asked to end
    close,      ///< so is the grace: they are killed, and it computes nothing any more
};

/// What is to be done next, at this moment or, if it has passed, now.
struct Next {
    Step step = Step::none;
    Nanos at = 0;

    friend bool operator==(const Next&, const Next&) = default;
};

/// `told`: that its end is near was told for this end.
[[nodiscard]] Next next(const model::TimeLimit& time, bool told, const Settings& settings);

/// So many seconds more, from the end or, if that has passed, from now on. Nothing was done about that end.
[[nodiscard]] model::TimeLimit extended(const model::TimeLimit& time, std::uint64_t seconds, Nanos now);

/// Whole seconds until the end, rounded up; 0: it is over.
[[nodiscard]] std::uint64_t left(const model::TimeLimit& time, Nanos now);

}  // namespace cgpu::ends
