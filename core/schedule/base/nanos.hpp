#pragma once

#include <cstddef>
#include <limits>

#include "core/model/nanos.hpp"

namespace cgpu::schedule {

using model::kMicro;
using model::kMilli;
using model::kSecond;
using model::Nanos;

/// "No bound" for a limit, "never" for a time.
constexpr Nanos kForever = std::numeric_limits<Nanos>::max();

/// A GPU takes at most 25 instances (cGPU's contract); each keeps one slot as long as it lives.
constexpr std::size_t kSlots = 25;

}  // namespace cgpu::schedule
