#include "daemon/histories.hpp"

#include <ctime>
#include <filesystem>
#include <utility>

#include "core/history/day_sums.hpp"
#include "core/history/ring.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/store/history/history_file.hpp"
#include "daemon/system/event_loop.hpp"

namespace cgpu {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;
constexpr std::uint64_t kUsOfSecond = 1'000'000;

std::unique_ptr<app::HistoryStore> open_file(const std::filesystem::path& path, std::uint64_t bytes) {
    auto file = store::HistoryFile::open(path, bytes);
    if (!file) {
        log::error("{} None is kept now.", file.error().text);
        return std::make_unique<store::NoHistory>(file.error());
    }
    if (!(*file)->damage().empty()) log::warn("{}", (*file)->damage());
    return std::move(*file);
}

}  // namespace

Histories open_histories(const config::Config& config) {
    const auto path = config.state_dir / "history";
    if (config.history_mib == 0) {
        const auto why =
            model::refuse(model::Refusal::Reason::unsupported, "history", "history_mib is 0, so none is kept",
                          "set history_mib in /etc/cgpu/cgpud.yaml, then systemctl restart cgpud")
                .value();
        return {std::make_unique<store::NoHistory>(why), std::make_unique<store::NoHistory>(why)};
    }
    const system::EndedBySignals reading;
    const auto of_days = history::ring_bytes(history::DaySums::kDays * history::DaySums::kMostRows);
    Histories all;
    all.records = open_file(path, config.history_mib * kMib);
    all.days = open_file(path.string() + "-days", of_days);
    return all;
}

std::uint64_t local_day_begin(std::uint64_t us) {
    const auto time = static_cast<std::time_t>(us / kUsOfSecond);
    std::tm parts{};
    if (localtime_r(&time, &parts) == nullptr) return 0;
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    const auto begin = std::mktime(&parts);
    return begin < 0 ? 0 : static_cast<std::uint64_t>(begin) * kUsOfSecond;
}

}  // namespace cgpu
