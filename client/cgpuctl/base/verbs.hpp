#pragma once

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"

/// The verbs, one file for each.
namespace cgpu::cgpuctl {

client::Result<void> status(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> list(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> queue_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> limits(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> ps_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> logs_verb(const Input& input, client::Node& node, Terminal& terminal);
/// Returns when all have ended.
client::Result<void> wait_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> rename_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> extend_verb(const Input& input, client::Node& node, Terminal& terminal);
/// Returns when all are gone.
client::Result<void> stop_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> show(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> inspect(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> describe(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> apply(const Input& input, client::Node& node, Terminal& terminal);
/// Returns after the time that is measured.
client::Result<void> why_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> set_policy(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> set_max_inst(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> set_default_memory(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> set_mode(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> set_prio_ratio(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> set_priority(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> set_weight(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> set_memory(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> drain(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> undrain(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> pause_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> resume_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> config(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> revert(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> forget(const Input& input, client::Node& node, Terminal& terminal);
/// Error (failed): a problem was found. What was found is printed before.
client::Result<void> doctor_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> events(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> report_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> bench(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> module(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> cdi(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> runtime(const Input& input, client::Node& node, Terminal& terminal);
/// Returns when the trace has ended.
client::Result<void> trace_verb(const Input& input, client::Node& node, Terminal& terminal);
/// Returns when the user ends it; without a terminal only with --batch.
client::Result<void> top_verb(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> swarm(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> upgrade(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> reserve_verb(const Input& input, client::Node& node, Terminal& terminal);
/// Returns only if the command could not be started.
client::Result<void> run(const Input& input, client::Node& node, Terminal& terminal);

}  // namespace cgpu::cgpuctl
