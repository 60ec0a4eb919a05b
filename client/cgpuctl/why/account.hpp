#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/why/observed.hpp"

namespace cgpu::cgpuctl::why {

/// One part of the GPU's time.
struct Part {
    enum class Kind { own, other, strangers, switching, idle };
    Kind kind;
    double ratio = 0;    ///< 0..1
    std::string name{};  ///< of another instance, as it is shown
    std::string id{};    ///< likewise
};

/// The whole of the GPU's time, divided among those who had it: the instance itself, each other one,
/// processes of no instance, the time in which somebody waited and nobody computed (switching), and the rest
/// (idle). The parts' sum is 1. What an instance uses beyond its reports is its own.
///
/// Instances measure by events around their kernels, and a kernel takes longer while others have the GPU in
/// between. So where all figures together exceed the time, those of the instances are reduced in proportion:
/// the driver's samples show who had it. How long the switching took is an estimate, because nobody measures
/// it; under policy fixed, where the time of others stays unused, it counts as idle.
[[nodiscard]] std::vector<Part> account_of(const Observed& seen);

/// The part of the time in which nobody had work for the GPU, as an estimate.
[[nodiscard]] double without_any_work(const Observed& seen);

/// The part of the instance itself: what it got.
[[nodiscard]] double own_part(const Observed& seen);

/// `64.1% it, 30% web, 4% processes of no instance, 1% switching, 0.9% idle`: the figures add up to 100 %. Of
/// other instances only those with a notable part are named.
[[nodiscard]] std::string account_text(const std::vector<Part>& parts);

}  // namespace cgpu::cgpuctl::why
