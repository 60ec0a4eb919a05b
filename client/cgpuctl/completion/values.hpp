#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cgpuctl/completion/candidate.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl {

/// The values that an argument or an option may have, by its name in the help: GPU, INSTANCE, POLICY, …
/// `verb`: whose it is; `first`: the first argument on the command line. Empty: any text.
[[nodiscard]] std::vector<Candidate> values_of(std::string_view name, std::string_view verb,
                                               std::string_view first, client::Node& node);

/// Whether a shell can put the word on a command line as it is. Names of others may contain anything.
[[nodiscard]] bool is_plain_word(std::string_view word);

}  // namespace cgpu::cgpuctl
