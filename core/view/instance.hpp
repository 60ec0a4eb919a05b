#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/view/fields.hpp"
#include "core/view/usage.hpp"

namespace cgpu::view {

/// What an instance may use of one GPU.
struct Quota {
    std::string gpu;  ///< UUID
    std::uint32_t gpu_index = 0;
    std::uint64_t memory_limit = 0;  ///< bytes
    std::uint32_t weight = 0;
    bool high_priority = false;
    /// Percentage of the compute, 1..100, if the weight was requested as one and follows max_inst; empty: the
    /// weight is a fixed number of slices.
    std::optional<std::uint32_t> percent = std::nullopt;
    bool paused =
        false;  ///< it computes nothing there until it is resumed or, if its time was over, extended
};

template <class Fields, Is<Quota> Of>
void fields(Fields& on, Of& quota) {
    on.value("uuid", quota.gpu);
    on.value("index", quota.gpu_index);
    on.value("memory_limit_bytes", quota.memory_limit);
    on.value("weight", quota.weight);
    on.per_cent("asked_share", quota.percent);
    on.value("high_priority", quota.high_priority);
    on.value("paused", quota.paused);
}

/// A quota and its current use.
struct OnGpu {
    Quota quota;
    Usage usage;
};

template <class Fields, Is<OnGpu> Of>
void fields(Fields& on, Of& place) {
    on.merge(place.quota);
    on.merge(place.usage);
}

/// A GPU that isn't the instance's and that its processes use outside the module.
struct ForeignGpu {
    std::string uuid;
    std::uint32_t index = 0;
    Usage usage;
};

template <class Fields, Is<ForeignGpu> Of>
void fields(Fields& on, Of& foreign) {
    on.value("uuid", foreign.uuid);
    on.value("index", foreign.index);
    on.value("memory_used_bytes", foreign.usage.memory_used);
    on.value("memory_unexplained_bytes", foreign.usage.memory_unexplained);
    on.value("processes_outside", foreign.usage.processes_outside);
}

/// A process of an instance that is connected to cgpud.
struct Process {
    std::uint32_t pid = 0;             ///< host pid
    std::optional<std::uint32_t> uid;  ///< of the user that it runs as; empty: it has just ended, or
                                       ///< wasn't looked at yet
    std::string command;               ///< its name (proc_pid_comm(5)), which it may choose

    friend bool operator==(const Process&, const Process&) = default;
};

template <class Fields, Is<Process> Of>
void fields(Fields& on, Of& process) {
    on.value("pid", process.pid);
    on.value("uid", process.uid);
    on.value("command", process.command);
}

struct Instance {
    std::string id;
    std::string name;
    std::string state;           ///< reserved, waiting, running
    std::uint64_t created = 0;   ///< seconds since 1970
    std::uint32_t pid = 0;       ///< 0 while waiting
    std::vector<OnGpu> gpus;     ///< in the order in which it sees them
    std::string module_version;  ///< what its processes run: one, several with blanks between, or none
    std::vector<ForeignGpu> foreign_gpus = {};
    bool managed = true;     ///< false: a container without a limit that books its GPUs
    std::string image = {};  ///< what the container was made from; empty: not known
    /// Host pids of processes that got no driver, the last one for each reason (a word).
    std::map<std::string, std::uint32_t> without_driver = {};
    std::vector<Process> processes = {};  ///< by pid
    /// User id of whom it runs as, verified; empty: it is a container of root's engine, or not known.
    std::optional<std::uint32_t> owner = std::nullopt;
    std::optional<std::uint64_t> time_limit = std::nullopt;  ///< seconds; empty: none
    std::optional<std::uint64_t> time_left = std::nullopt;   ///< seconds, of a time limit; 0: it is over
    std::optional<std::uint64_t> idle_limit = std::nullopt;  ///< seconds without work; empty: any
    bool idle_over = false;           ///< it was without work for so long, and is ended
    std::string declared_owner = {};  ///< what a container of root's engine says; empty: nothing

    [[nodiscard]] const OnGpu* on(const std::string& uuid) const {
        for (const OnGpu& place : gpus)
            if (place.quota.gpu == uuid) return &place;
        return nullptr;
    }
};

template <class Fields, Is<Instance> Of>
void fields(Fields& on, Of& instance) {
    on.value("id", instance.id);
    on.value("name", instance.name);
    on.value("image", instance.image);
    on.value("state", instance.state);
    on.value("pid", instance.pid);
    on.value("created_seconds", instance.created);
    on.value("module_version", instance.module_version);
    on.value("managed", instance.managed);
    on.value("owner", instance.owner);
    on.value("declared_owner", instance.declared_owner);
    on.value("time_limit_seconds", instance.time_limit);
    on.value("time_left_seconds", instance.time_left);
    on.value("idle_limit_seconds", instance.idle_limit);
    on.value("idle_over", instance.idle_over);
    on.list("processes", instance.processes);
    on.value("without_driver", instance.without_driver);
    on.list("gpus", instance.gpus);
    on.list("foreign_gpus", instance.foreign_gpus);
}

/// A container without a limit: it got GPUs and asked for no part of one.
struct UnmanagedContainer {
    std::string id;
    std::string name;
    std::uint64_t created = 0;                    ///< seconds since 1970
    std::uint32_t pid = 0;                        ///< 0: not known yet
    std::vector<std::string> gpus;                ///< UUIDs of those that it named; empty: all
    std::map<std::string, std::uint64_t> memory;  ///< bytes that it holds by the driver's figures, by UUID
    bool booked = false;                          ///< an instance with this id books them
    std::optional<std::uint32_t> owner = std::nullopt;  ///< as Instance::owner
};

template <class Fields, Is<UnmanagedContainer> Of>
void fields(Fields& on, Of& container) {
    on.value("id", container.id);
    on.value("name", container.name);
    on.value("pid", container.pid);
    on.value("created_seconds", container.created);
    on.value("booked", container.booked);
    on.value("owner", container.owner);
    on.value("gpus", container.gpus);
    on.value("memory_used_bytes", container.memory);
}

}  // namespace cgpu::view
