#pragma once

#include <array>
#include <bitset>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// What the number that an instance was given means.
enum class Ask {
    weight,      ///< relative to the weights of others
    percentage,  ///< that many slices of the period, which were requested as a part of the GPU
};

/// The request of one instance; 0 slices: it gets nothing.
struct Requested {
    int slices = 0;
    Ask ask = Ask::weight;
};

using Requests = std::array<Requested, kSlots>;
using Working = std::bitset<kSlots>;

/// The parts under policy proportional, in slices of a period of `max_inst`. A percentage is that part. What
/// the percentages of the instances with work leave is divided by weight among the others with work. If none
/// of those has work, the percentages divide the whole period in proportion. The parts of the instances with
/// work add up to `max_inst`; an instance without work has the part that it would have with work. Weights
/// keep at least one slice each, as admission has left it to them.
std::array<double, kSlots> proportions(const Requests& requests, const Working& working, int max_inst);

}  // namespace cgpu::schedule
