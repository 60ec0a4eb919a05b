#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cgpuctl/completion/candidate.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// The values that an argument or an option may have, by its name in the help: GPU, INSTANCE, POLICY, …
/// `verb`: whose it is. Empty: any text.
[[nodiscard]] std::vector<Candidate> values_of(std::string_view name, std::string_view verb,
                                               client::Node& node);

}  // namespace cgpu::cgpuctl
