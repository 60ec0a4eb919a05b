#include "tests/sim/driver/base/visible_devices.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string>

#include "tests/sim/device/layout/card_text.hpp"

namespace simgpu {

namespace {

std::optional<std::uint32_t> find_gpu(const std::string& name, const Card* cards, std::uint32_t count) {
    if (name.starts_with("GPU-")) {
        std::optional<std::uint32_t> found;
        for (std::uint32_t g = 0; g < count; ++g) {
            if (!uuid_text(cards[g]).starts_with(name)) continue;
            if (found) return std::nullopt;  // ambiguous
            found = g;
        }
        return found;
    }
    std::uint32_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error != std::errc{} || end != name.data() + name.size() || index >= count) return std::nullopt;
    return index;
}

}  // namespace

std::vector<std::uint32_t> visible_devices(const char* variable, const Card* cards, std::uint32_t count) {
    std::vector<std::uint32_t> visible;
    if (!variable) {
        visible.resize(count);
        std::iota(visible.begin(), visible.end(), 0U);
        return visible;
    }
    const std::string list = variable;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const auto gpu = find_gpu(list.substr(begin, end - begin), cards, count);
        if (!gpu) break;
        if (std::find(visible.begin(), visible.end(), *gpu) != visible.end()) return {};
        visible.push_back(*gpu);
        begin = end + 1;
    }
    return visible;
}

}  // namespace simgpu
