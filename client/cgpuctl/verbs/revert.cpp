#include <algorithm>

#include "client/cgpuctl/base/changes.hpp"
#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/cgpuctl/base/words.hpp"
#include "client/cgpuctl/jobs/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/verbs/changing.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;
using Kind = ClientError::Kind;

void say_done(const std::string& what, const RevertInput& input, Terminal& terminal) {
    terminal.done(what + (input.dry_run ? ": the configuration could be put in force; nothing was changed."
                                        : ": the configuration is in force."));
}

/// --force and --gpu: only instances have them.
bool has_options_of_instance(const RevertInput& input) { return input.force || !input.gpu.empty(); }

/// The mode of the node changes as a job, which another verb starts and follows.
client::Result<void> revert_mode(const RevertInput& input, client::Node& node, Terminal& terminal) {
    SetModeInput configured;
    static_cast<Input&>(configured) = input;
    configured.mode = "configured";
    configured.drain = input.drain;
    configured.timeout = input.timeout;
    auto done = set_mode(configured, node, terminal);
    if (done || done.error().reason != "Exists") return done;
    say_done("Mode", input, terminal);
    return {};
}

/// The settings that the next starts get all the same; empty: none.
std::string what_is_kept(const std::string& instance, const RevertInput& input, client::Node& node) {
    const auto snapshot = node.read();
    const client::Instance* its =
        snapshot ? find_instance_meant(*snapshot, instance, said_by(input)) : nullptr;
    if (its == nullptr) return {};
    const bool any =
        std::ranges::any_of(snapshot->kept, [&](const auto& each) { return each.name == its->name; });
    return any ? " What is kept for its next starts stays: cgpuctl forget " + model::shell_word(its->name) +
                     "."
               : "";
}

void say_instance_done(const std::string& name, const RevertInput& input, client::Node& node,
                       Terminal& terminal) {
    const std::string start = "Instance " + printable(name) + ": what it was admitted with ";
    if (input.dry_run)
        terminal.done(start + "could be put in force; nothing was changed.");
    else
        terminal.done(start + "is in force." + (input.quiet ? "" : what_is_kept(name, input, node)));
}

/// The change that reverts what is named: a GPU, or an instance. Not found: a word that can be a GPU's names
/// neither.
client::Result<client::Change> change_for(const std::string& what, const RevertInput& input,
                                          client::Node& node) {
    client::Change change;
    change.revert = true;
    if (!has_options_of_instance(input) && names_a_gpu(what)) {
        const auto gpu = node.find_gpu(what);
        if (gpu) {
            change.gpu = *gpu;
            return change;
        }
        if (gpu.error().kind != Kind::not_found || !node.find_instance(what))
            return tl::unexpected(gpu.error());
    }
    change.instance = what;
    change.gpu = input.gpu;
    return change;
}

client::Result<void> revert_gpus_and_instances(const RevertInput& input, client::Node& node,
                                               Terminal& terminal) {
    std::vector<client::Change> changes;
    for (const std::string& what : input.targets) {
        if (what == "mode" || what == "default-memory")
            return client::fail(Kind::usage,
                                what + ": it is reverted alone. Try: give it a cgpuctl revert of its own.");
        auto change = change_for(what, input, node);
        if (!change) return tl::unexpected(change.error());
        changes.push_back(std::move(*change));
    }
    if (const auto made = make(changes, input, node); !made) return tl::unexpected(made.error());
    for (std::size_t each = 0; each < changes.size(); ++each) {
        if (changes[each].instance.empty())
            say_done("GPU " + printable(input.targets[each]), input, terminal);
        else
            say_instance_done(input.targets[each], input, node, terminal);
    }
    return {};
}

}  // namespace

client::Result<void> revert(const RevertInput& input, client::Node& node, Terminal& terminal) {
    const bool of_mode = input.drain || !input.timeout.empty();
    const bool of_instance = has_options_of_instance(input);
    const std::string only = input.targets.size() == 1 ? input.targets.front() : "";
    const bool is_setting = only == "mode" || only == "default-memory";
    if ((of_mode && only != "mode") || (of_instance && is_setting))
        return client::fail(Kind::usage, std::string(of_instance ? "--force and --gpu: only an instance"
                                                                 : "--drain and --timeout: only the mode") +
                                             " has them. Try: cgpuctl revert --help.");
    if (only == "mode" && !input.if_generation.empty())
        return client::fail(Kind::usage,
                            "--if-generation: the mode can't have it, because its switch may wait for "
                            "instances to end. Try: cgpuctl revert mode.");
    if (only == "mode") return revert_mode(input, node, terminal);
    if (only == "default-memory") {
        auto done = making_of(input).and_then(
            [&](const auto& how) { return node.set_default_memory(std::nullopt, how); });
        if (done) say_done("Default memory", input, terminal);
        return done;
    }
    return revert_gpus_and_instances(input, node, terminal);
}

}  // namespace cgpu::cgpuctl
