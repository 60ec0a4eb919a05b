#include <algorithm>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;
using Kind = ClientError::Kind;

client::Result<void> report(const client::Result<void>& done, const Input& input, const std::string& what,
                            Terminal& terminal) {
    if (!done) return done;
    terminal.done(what + (input.dry_run ? ": the configuration could be put in force; nothing was changed."
                                        : ": the configuration is in force."));
    return {};
}

/// Whether it can't be the name of an instance, so the answer about GPUs is the better one.
bool names_a_gpu(const std::string& what) {
    return what.starts_with("GPU-") || std::ranges::all_of(what, [](char c) { return c >= '0' && c <= '9'; });
}

/// The mode of the node changes as a job, which another verb starts and follows.
client::Result<void> revert_mode(Input input, client::Node& node, Terminal& terminal) {
    input.mode = "configured";
    auto done = set_mode(input, node, terminal);
    const bool was_so = !done && done.error().reason == "Exists";
    return was_so ? report({}, input, "Mode", terminal) : done;
}

/// The settings that the next starts get all the same; empty: none.
std::string what_is_kept(const std::string& instance, client::Node& node) {
    const auto id = node.find_instance(instance);
    const auto snapshot = node.read();
    const auto kept = node.kept();
    if (!id || !snapshot || !kept) return {};
    const auto its = std::ranges::find(snapshot->instances, *id, &client::Instance::id);
    if (its == snapshot->instances.end()) return {};
    const bool any = std::ranges::any_of(*kept, [&](const auto& each) { return each.name == its->name; });
    return any ? " What is kept for its next starts stays: cgpuctl forget " + printable(its->name) + "." : "";
}

client::Result<void> revert_instance(const Input& input, client::Node& node, Terminal& terminal) {
    const auto& name = input.target;
    if (auto done = node.revert_instance(name, input.gpu, {false, input.force, input.dry_run}); !done)
        return done;
    const std::string start = "Instance " + printable(name) + ": what it was admitted with ";
    if (input.dry_run)
        terminal.done(start + "could be put in force; nothing was changed.");
    else
        terminal.done(start + "is in force." + (input.quiet ? "" : what_is_kept(name, node)));
    return {};
}

}  // namespace

client::Result<void> revert(const Input& input, client::Node& node, Terminal& terminal) {
    const std::string& what = input.target;
    const bool of_mode = input.drain || !input.timeout.empty();
    const bool of_instance = input.force || !input.gpu.empty();
    if (what == "mode" && !of_instance) return revert_mode(input, node, terminal);
    if (of_mode || what == "mode")
        return client::fail(Kind::usage, std::string(of_mode ? "--drain and --timeout: only the mode"
                                                             : "--force and --gpu: only an instance") +
                                             " has them. Try: cgpuctl revert --help.");
    if (of_instance) return revert_instance(input, node, terminal);
    if (what == "default-memory")
        return report(node.set_default_memory(std::nullopt, {input.dry_run}), input, "Default memory",
                      terminal);
    auto done = node.revert_gpu(what, input.dry_run);
    if (!done && done.error().kind == Kind::not_found) {
        const auto instance = node.find_instance(what);
        if (instance) return revert_instance(input, node, terminal);
        if (!names_a_gpu(what)) return tl::unexpected(instance.error());
    }
    return report(done, input, "GPU " + printable(what), terminal);
}

}  // namespace cgpu::cgpuctl
