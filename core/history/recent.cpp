#include "core/history/recent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace cgpu::history {
namespace {

/// Half-lives: 2 to the power of it is far from what a double can hold.
constexpr double kFar = 256;

}  // namespace

void Recent::add(const Record& record, std::uint64_t now_us) {
    const auto gpu_ns = record.gpu_ns();
    if (gpu_ns == 0) return;
    const std::uint64_t at = std::min(record.end_us(), now_us);
    const auto age = [&] {
        return (static_cast<double>(at) - static_cast<double>(unit_us_)) / static_cast<double>(half_life_us_);
    };
    if (used_.empty() || age() > kFar) count_from(at);
    used_[record.owner] += static_cast<double>(gpu_ns) * std::exp2(age());
    if (used_.size() > kMostOwners) forget_least();
}

void Recent::count_from(std::uint64_t us) {
    const double factor = std::exp2((static_cast<double>(unit_us_) - static_cast<double>(us)) /
                                    static_cast<double>(half_life_us_));
    for (auto& [owner, used] : used_) used *= factor;
    unit_us_ = us;
}

void Recent::forget_least() {
    std::vector<double> all;
    for (const auto& [owner, used] : used_) all.push_back(used);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    std::size_t left = all.size() / 2;  // to forget: several may have the same
    std::erase_if(used_, [&left, most = *middle](const auto& each) {
        const bool forgotten = each.second <= most && left > 0;
        if (forgotten) --left;
        return forgotten;
    });
}

}  // namespace cgpu::history
