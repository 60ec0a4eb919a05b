#include "daemon/gpu/reader/utilization.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace cgpu::gpu {
namespace {

using Samples = std::vector<app::UtilizationSample>;

constexpr std::size_t kMostSamples = 65536;

/// Asks for lists of growing length: processes may start between two calls. `call` is given the entries and
/// their number, and returns NVML's code.
template <class Entry, class Call>
tl::expected<Samples, int> read_list(Call call) {
    // NVML is asked for the number first, as its documentation has it: with room for more it has been seen to
    // return entries that it hadn't filled.
    std::vector<Entry> entries;
    for (;;) {
        auto count = static_cast<unsigned>(entries.size());
        const int code = call(entries.empty() ? nullptr : entries.data(), count);
        if (code == kNvmlNotFound) return Samples();
        if (code == kNvmlInsufficientSize && entries.size() < kMostSamples) {
            const auto room =
                entries.empty() ? std::size_t{count} : std::max<std::size_t>(count, entries.size() * 2);
            entries.assign(std::clamp<std::size_t>(room, 1, kMostSamples), Entry{});
            continue;
        }
        if (code != kNvmlSuccess) return tl::unexpected(code);
        entries.resize(std::min<std::size_t>(count, entries.size()));
        break;
    }
    Samples samples;
    for (const Entry& each : entries)
        if (each.pid != 0 && std::in_range<std::int32_t>(each.pid))
            samples.push_back({static_cast<std::int32_t>(each.pid), each.sm, each.time_us});
    return samples;
}

}  // namespace

tl::expected<Samples, int> read_utilization(const NvmlLibrary& nvml, NvmlDevice device,
                                            std::uint64_t after_us) {
    tl::expected<Samples, int> samples = tl::unexpected(kNvmlNotSupported);
    if (nvml.utilization)
        samples = read_list<NvmlUtilization>([&](NvmlUtilization* to, unsigned& count) {
            return nvml.utilization(device, to, &count, after_us);
        });
    if (samples || samples.error() != kNvmlNotSupported || !nvml.utilization_list) return samples;
    return read_list<NvmlUtilizationInfo>([&](NvmlUtilizationInfo* to, unsigned& count) {
        NvmlUtilizationList list{kNvmlUtilizationListVersion, count, after_us, to};
        const int code = nvml.utilization_list(device, &list);
        count = list.count;
        return code;
    });
}

}  // namespace cgpu::gpu
