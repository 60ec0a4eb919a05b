#pragma once

#include <string>

namespace cgpu::system {

/// Whether the log goes to the journal: stderr is connected to it.
[[nodiscard]] bool logs_to_journal();

/// Lines go to the journal if stderr is connected to it (JOURNAL_STREAM), with priorities and fields;
/// otherwise to stderr, with times. `level` is one of spdlog's names; unknown ones mean info.
void set_up_log(const std::string& level);

}  // namespace cgpu::system
