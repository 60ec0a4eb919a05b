#include "core/model/similar.hpp"

#include <algorithm>
#include <numeric>

namespace cgpu::model {
namespace {

constexpr std::size_t kLongest = 64;

}  // namespace

std::string lowered(std::string_view text) {
    std::string small(text);
    for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return small;
}

std::size_t distance(std::string_view a, std::string_view b) {
    // Of the first i letters of `a`, and of i - 1 and i - 2, to each beginning of `b`.
    std::vector<std::size_t> now(b.size() + 1);
    std::iota(now.begin(), now.end(), std::size_t{0});
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> earlier(b.size() + 1);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        earlier.swap(before);
        before.swap(now);
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = std::min({changed, before[j] + 1, now[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], earlier[j - 2] + 1);
        }
    }
    return now.back();
}

std::string_view most_similar(std::string_view written, const std::vector<std::string_view>& known) {
    if (written.size() > kLongest) return {};
    const std::string small = lowered(written);
    std::string_view best;
    // With half of the letters different it is another word.
    std::size_t least = std::max<std::size_t>(2, written.size() / 2) + 1;
    for (const std::string_view each : known) {
        if (each.size() > kLongest) continue;
        const auto off = distance(small, lowered(each));
        if (off >= least) continue;
        least = off;
        best = each;
    }
    return best;
}

}  // namespace cgpu::model
