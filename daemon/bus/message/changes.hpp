#pragma once

#include <vector>

#include "daemon/app/instances/node_changes.hpp"
#include "daemon/bus/message/options.hpp"

namespace cgpu::bus {

/// The changes that Apply gets. Refused (invalid), with the number of the change (from 1): an unknown key, a
/// value of the wrong type, or neither gpu nor instance.
[[nodiscard]] app::Result<std::vector<app::NodeChange>> read_changes(const std::vector<OptionMap>& given);

/// The method that makes the same change alone, if there is one change of one setting: what refusals are told
/// of as. Otherwise `Apply`.
[[nodiscard]] const char* method_of(const std::vector<app::NodeChange>& changes);

}  // namespace cgpu::bus
