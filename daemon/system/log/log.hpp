#pragma once

#include <string>

namespace cgpu::system {

/// Points spdlog's default logger at the journal if stderr is connected to it (JOURNAL_STREAM), with
/// priorities and fields (JournalSink); otherwise at stderr with times. `level` is one of spdlog's names;
/// unknown ones mean info.
void set_up_log(const std::string& level);

}  // namespace cgpu::system
