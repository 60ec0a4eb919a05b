#pragma once

#include <memory>
#include <string>

#include "daemon/system/log/instance_names.hpp"

namespace cgpu::system {

/// Whether the log goes to the journal: stderr is connected to it.
[[nodiscard]] bool logs_to_journal();

/// Points spdlog's default logger at the journal if stderr is connected to it (JOURNAL_STREAM), with
/// priorities and fields (JournalSink); otherwise at stderr with times. `level` is one of spdlog's names;
/// unknown ones mean info. `names`: by which lines about an instance get its full id and its name.
void set_up_log(const std::string& level, std::shared_ptr<const InstanceNames> names = nullptr);

}  // namespace cgpu::system
