#include "client/cgpuctl/output/format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "core/model/bytes.hpp"
#include "core/model/mode.hpp"
#include "core/model/nanos.hpp"
#include "core/model/policy.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

/// With one decimal, or none if that would be 0.
std::string decimal(double value) {
    std::array<char, 64> text{};
    const double tenths = std::round(value * 10) / 10;
    const int digits = tenths == std::floor(tenths) ? 0 : 1;
    std::snprintf(text.data(), text.size(), "%.*f", digits, tenths);
    return text.data();
}

std::string outside_text(std::size_t processes) {
    return std::to_string(processes) + (processes == 1 ? " process" : " processes") + " outside the module";
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
    const model::Bytes size(bytes);
    if (model::Bytes::from_mib(size.mib()) == size) return std::to_string(size.mib()) + "MiB";
    const double tenths =
        std::floor(static_cast<double>(bytes) * 10 / static_cast<double>(model::Bytes::kPerMib));
    std::array<char, 64> text{};
    // Not rounded up to a whole MiB.
    std::snprintf(text.data(), text.size(), "%.1fMiB", std::max(tenths, 1.0) / 10);
    return text.data();
}

std::string of_text(std::uint64_t used, std::uint64_t limit) {
    return size_text(used) + " / " + size_text(limit);
}

std::string memory_text(const client::Quota& quota, const client::Usage& usage) {
    auto text = of_text(usage.memory_used, quota.memory_limit);
    std::string remark;
    if (usage.memory_unexplained > 0) remark = size_text(usage.memory_unexplained) + " unexplained";
    if (!usage.processes_outside.empty())
        remark += (remark.empty() ? "" : ", ") + outside_text(usage.processes_outside.size());
    return remark.empty() ? text : text + " (" + remark + ")";
}

std::string memory_text(const client::ForeignGpu& foreign) {
    return size_text(foreign.usage.memory_used) +
           " (not its GPU: " + outside_text(foreign.usage.processes_outside.size()) + ")";
}

std::string limits_text(const client::DriverLimits& limits) {
    if (limits.backend == "none") return "none: " + limits.why_none;
    return limits.backend + ", not used";
}

std::string share_text(double share) { return decimal(share * 100) + "%"; }

std::string shares_text(const client::Usage& usage) {
    if (!usage.target_share) return "native";
    const auto text = share_text(*usage.target_share) + " / " + share_text(usage.achieved_share.value_or(0));
    const double unexplained = usage.compute_unexplained.value_or(0);
    return unexplained > 0 ? text + " (" + share_text(unexplained) + " unexplained)" : text;
}

std::string why_weight_is_ignored(const client::Gpu& gpu) {
    if (gpu.mode != model::to_string(model::Mode::memory_compute)) return "no effect in mode " + gpu.mode;
    if (model::weight_counts(static_cast<model::Policy>(gpu.policy))) return "";
    return "no effect under policy " + gpu.policy_name;
}

std::string weight_text(const client::Quota& quota, const std::vector<client::Gpu>& gpus) {
    std::string text = quota.percent ? std::to_string(*quota.percent) + "%" : std::to_string(quota.weight);
    const bool asks_part = quota.percent || quota.weight > 1;
    const auto gpu = std::ranges::find(gpus, quota.gpu, &client::Gpu::uuid);
    if (asks_part && gpu != gpus.end() && !why_weight_is_ignored(*gpu).empty()) text += " (no effect)";
    return text + (quota.high_priority ? " high" : "");
}

std::string duration_text(std::uint64_t nanoseconds) {
    constexpr auto kSecond = static_cast<std::uint64_t>(model::kSecond);
    if (nanoseconds == 0) return "0s";
    if (nanoseconds >= kSecond) return decimal(static_cast<double>(nanoseconds) / 1e9) + "s";
    if (nanoseconds >= kSecond / 10000) return decimal(static_cast<double>(nanoseconds) / 1e6) + "ms";
    return decimal(static_cast<double>(nanoseconds) / 1e3) + "us";
}

std::string time_text(std::uint64_t seconds) {
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    std::array<char, 64> text{};
    localtime_r(&time, &parts);
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
    return text.data();
}

std::string short_id(std::string_view id) { return std::string(id.substr(0, 12)); }

std::string shown_name(std::string_view name) { return shortened(printable(name), kNameColumns); }

std::string shown_name(std::string_view name, std::string_view id) {
    return name.empty() ? short_id(id) : shown_name(name);
}

std::string word_for(std::string_view name, std::string_view id) {
    return model::is_plain_word(name) && name.size() <= kNameColumns ? std::string(name) : short_id(id);
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    while (width > 0 && !text.empty()) {
        std::string line = cut(text, width);
        if (line.size() < text.size() && text[line.size()] != ' ')
            if (const auto blank = line.rfind(' '); blank != std::string::npos && blank > 0)
                line.resize(blank);
        text.remove_prefix(line.size());
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace cgpu::cgpuctl
