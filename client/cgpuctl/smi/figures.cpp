#include "client/cgpuctl/smi/figures.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "core/model/bytes.hpp"

namespace cgpu::cgpuctl::smi {
namespace {

std::string with_decimals(double value, int decimals) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
}

}  // namespace

std::string mib_text(std::uint64_t bytes) { return std::to_string(model::Bytes(bytes).mib()); }

std::string per_cent_text(std::optional<double> share) {
    if (!share) return {};
    const double tenths = std::round(*share * 1000) / 10;
    return with_decimals(tenths, tenths == std::floor(tenths) ? 0 : 1);
}

std::string time_in(std::uint64_t nanoseconds, double per) {
    return with_decimals(static_cast<double>(nanoseconds) / per, 3);
}

std::string pids_text(const std::vector<std::uint32_t>& pids) {
    std::string text;
    for (const std::uint32_t pid : pids) text += (text.empty() ? "" : " ") + std::to_string(pid);
    return text;
}

}  // namespace cgpu::cgpuctl::smi
