#pragma once

#include <cstdint>
#include <memory>

#include "daemon/app/ports/history_store.hpp"
#include "daemon/config/config.hpp"

namespace cgpu {

/// Where the history is kept: the records of single intervals, and the sums of days, which last longer.
struct Histories {
    std::unique_ptr<app::HistoryStore> records;
    std::unique_ptr<app::HistoryStore> days;
};

/// Opens the files of the configuration's state_dir. What can't be opened is logged, and isn't kept: cgpud
/// does all the rest without.
[[nodiscard]] Histories open_histories(const config::Config& config);

/// When the day of a moment begins in the machine's time zone; both in microseconds since 1970.
[[nodiscard]] std::uint64_t local_day_begin(std::uint64_t us);

}  // namespace cgpu
