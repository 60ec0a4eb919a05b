#pragma once

#include <string>

namespace cgpu::system {

/// Points spdlog's default logger at the journal where stderr is connected to it (JOURNAL_STREAM), with
/// priorities and fields (JournalSink), else at stderr with times. `level` is one of spdlog's names; unknown
/// ones mean info.
void set_up_log(const std::string& level);

}  // namespace cgpu::system
