#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/view/fields.hpp"
#include "core/view/gpu.hpp"
#include "core/view/instance.hpp"
#include "core/view/queued.hpp"

/// The node as cgpud shows it, as plain values.
namespace cgpu::view {

/// The settings kept for the next starts of an instance's name, for one of its devices. An unset one is as
/// the instance requests it.
struct Kept {
    std::uint32_t owner = 0;  ///< user id of the instance's creator
    std::string name;
    std::uint32_t device = 0;                   ///< which of its GPUs, from 0, in its own order
    std::optional<std::uint64_t> memory_limit;  ///< bytes
    std::optional<std::uint32_t> weight;        ///< slices
    std::optional<bool> high_priority;
};

template <class Fields, Is<Kept> Of>
void fields(Fields& on, Of& kept) {
    on.value("name", kept.name);
    on.value("owner", kept.owner);
    on.value("device", kept.device);
    on.value("memory_limit_bytes", kept.memory_limit);
    on.value("weight", kept.weight);
    on.value("high_priority", kept.high_priority);
}

/// An upgrade of the module, or a switch of the node's mode.
struct Job {
    std::uint64_t id = 0;
    std::string kind;    ///< hot, cold, mode
    std::string from;    ///< the version or mode that was in force
    std::string target;  ///< the version or mode to reach
    std::string state;   ///< stage, canary, all, commit, back, drain; ended
    std::uint32_t done = 0;
    std::uint32_t all = 0;  ///< processes; of a cold one, or of the mode, instances
    std::string message;
    std::string result;  ///< done, failed, cancelled; empty while it is under way

    [[nodiscard]] bool ended() const { return state == "ended"; }
};

template <class Fields, Is<Job> Of>
void fields(Fields& on, Of& job) {
    on.value("id", job.id);
    on.value("kind", job.kind);
    on.value("from", job.from);
    on.value("target", job.target);
    on.value("state", job.state);
    on.value("done", job.done);
    on.value("all", job.all);
    on.value("message", job.message);
    on.value("result", job.result);
}

/// One reason why cgpud has refused its configuration files at a reload, and keeps the former configuration.
struct ConfigurationProblem {
    std::string file;
    std::uint32_t line = 0;   ///< from 1; 0: it concerns the whole file
    std::string message;      ///< `where: what: why. Try: …`
    std::uint64_t since = 0;  ///< seconds since 1970
};

template <class Fields, Is<ConfigurationProblem> Of>
void fields(Fields& on, Of& problem) {
    on.value("file", problem.file);
    on.value("line", problem.line);
    on.value("message", problem.message);
    on.value("since_seconds", problem.since);
}

/// The whole node at one moment.
struct Snapshot {
    std::uint64_t generation = 0;
    std::string version;
    std::string module_version;                  ///< in force; empty if it isn't installed
    std::vector<std::string> modules_installed;  ///< ascending
    std::string mode;                            ///< of instances that request none
    std::string mode_source = "configuration";   ///< or switched
    std::uint64_t default_memory = 0;            ///< bytes, of instances that request memory without a number
    std::string default_memory_source = "configuration";       ///< or set
    std::optional<Job> job;                                    ///< under way, or the last one
    std::vector<ConfigurationProblem> configuration_problems;  ///< empty: the files are in force
    std::vector<std::string> newer_driver_functions;           ///< than cgpud knows; sorted
    std::map<std::string, std::uint64_t> event_counts;         ///< by type, since cgpud's start
    /// Nanoseconds since the figures of usage were read: cgpud renews them once a second for others than
    /// root.
    std::uint64_t usage_age = 0;
    std::vector<Gpu> gpus;            ///< by index, those that are not present last
    std::vector<Instance> instances;  ///< the oldest first
    std::vector<UnmanagedContainer> unmanaged;
    std::vector<Queued> queue;  ///< by position
    QueueTotals queue_totals;
    std::vector<Kept> kept;  ///< by owner and name

    [[nodiscard]] bool mode_is_switched() const { return mode_source == "switched"; }
    [[nodiscard]] bool default_memory_is_set() const { return default_memory_source == "set"; }
};

template <class Fields, Is<Snapshot> Of>
void fields(Fields& on, Of& node) {
    on.value("generation", node.generation);
    on.value("version", node.version);
    on.value("module_version", node.module_version);
    on.value("modules_installed", node.modules_installed);
    on.value("mode", node.mode);
    on.value("mode_source", node.mode_source);
    on.value("default_memory_bytes", node.default_memory);
    on.value("default_memory_source", node.default_memory_source);
    on.one("job", node.job);
    on.list("configuration_problems", node.configuration_problems);
    on.value("newer_driver_functions", node.newer_driver_functions);
    on.value("event_counts", node.event_counts);
    on.seconds("usage_age_seconds", node.usage_age);
    on.list("gpus", node.gpus);
    on.list("instances", node.instances);
    on.list("unmanaged", node.unmanaged);
    on.list("queue", node.queue);
    on.merge(node.queue_totals);
    on.list("kept", node.kept);
}

}  // namespace cgpu::view
