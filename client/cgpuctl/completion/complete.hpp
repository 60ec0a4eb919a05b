#pragma once

#include <string>
#include <vector>

#include "client/cgpuctl/completion/candidate.hpp"
#include "client/node/node.hpp"

/// What a shell may put for the word at the cursor. All shells ask this program, so that they know what the
/// table of verbs has.
namespace cgpu::cgpuctl {

/// `words`: those after the program's name, up to the cursor; the last one is the word at the cursor, and may
/// be empty. The node is only read where its GPUs, instances or versions are meant; if cgpud isn't running,
/// there are no candidates: it isn't started.
[[nodiscard]] std::vector<Candidate> complete(const std::vector<std::string>& words, client::Node& node);

/// A line for each: the word, a tab, what it is about.
[[nodiscard]] std::string to_lines(const std::vector<Candidate>& candidates);

}  // namespace cgpu::cgpuctl
