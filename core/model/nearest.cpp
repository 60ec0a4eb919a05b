#include "core/model/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace cgpu::model {
namespace {

/// A longer name is not a typo of one of ours.
constexpr std::size_t kLongest = 64;

/// How many letters must be inserted, removed or changed to turn one into the other.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string_view nearest(std::string_view written, std::span<const std::string_view> known) {
    if (written.size() > kLongest) return {};
    std::string_view best;
    // With half of the letters different it is another word.
    std::size_t least = std::max<std::size_t>(2, written.size() / 2) + 1;
    for (const std::string_view name : known) {
        const auto off = distance(written, name);
        if (off >= least) continue;
        least = off;
        best = name;
    }
    return best;
}

}  // namespace cgpu::model
