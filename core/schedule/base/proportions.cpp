#include "core/schedule/base/proportions.hpp"

#include <algorithm>

namespace cgpu::schedule {

namespace {
/// The slices of the instances with work.
struct Sums {
    int percentages = 0;
    int weights = 0;

    void add(const Requested& request) {
        (request.ask == Ask::percentage ? percentages : weights) += std::max(0, request.slices);
    }
};

double part_of(const Requested& request, const Sums& sums, int max_inst) {
    // Never less than a slice for each weight: a caller that broke the rule of admission would starve them.
    const int left = sums.weights > 0 ? std::max(max_inst - sums.percentages, sums.weights) : 0;
    // One division, of whole numbers that a double has exactly: rounded before, a part could exceed the
    // whole.
    const int whole = sums.percentages + left;
    const double slices = static_cast<double>(max_inst) * request.slices;
    if (request.ask == Ask::percentage) return slices / whole;
    return slices * left / (static_cast<double>(sums.weights) * whole);
}
}  // namespace

std::array<double, kSlots> proportions(const Requests& requests, const Working& working, int max_inst) {
    Sums sums;
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (working[i]) sums.add(requests[i]);
    }
    std::array<double, kSlots> parts{};
    for (std::size_t i = 0; i < kSlots; ++i) {
        if (requests[i].slices <= 0) continue;
        Sums with_it = sums;
        if (!working[i]) with_it.add(requests[i]);
        parts[i] = part_of(requests[i], with_it, max_inst);
    }
    return parts;
}

}  // namespace cgpu::schedule
