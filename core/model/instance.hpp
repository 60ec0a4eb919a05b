#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/instance_id.hpp"
#include "core/model/mode.hpp"
#include "core/model/owner.hpp"
#include "core/model/quota.hpp"
#include "core/model/time_limit.hpp"

namespace cgpu::model {

/// A process of the host, identified so that a reused pid is never mistaken for it.
struct Process {
    std::int32_t pid = 0;          ///< in the host's pid namespace, more than zero
    std::uint64_t start_time = 0;  ///< field 22 of /proc/<pid>/stat, in clock ticks since boot
    std::string boot_id;           ///< /proc/sys/kernel/random/boot_id

    friend bool operator==(const Process&, const Process&) = default;
};

/// The maximum number of GPUs of one instance, by the layout of the pages and messages.
constexpr std::size_t kMaxGpusPerInstance = 16;

/// Bytes of Instance::image at most.
constexpr std::size_t kMaxImageName = 512;

/// A part of GPUs that is held for an instance to come. No process lives with it; its own time limit says how
/// long it is held.
struct Reservation {
    /// Whoever has it may take the part over, once. A secret.
    std::string token;
    /// The time limit of the instance to come, in seconds; empty: none.
    std::optional<std::uint64_t> time = std::nullopt;
    std::optional<std::uint64_t> idle = std::nullopt;  ///< the same of its time without work
    std::string boot_id = {};                          ///< of the boot that it doesn't outlive

    friend bool operator==(const Reservation&, const Reservation&) = default;
};

/// One container (or one bare-metal job) on shared GPUs, or what is held for one.
struct Instance {
    InstanceId id;
    std::string name;              ///< for people; may be empty until it is known
    std::uint64_t generation = 0;  ///< given by Node::add_instance; tells two instances of the same id apart
    std::uint64_t created = 0;     ///< wall clock, seconds since 1970
    Mode mode = Mode::memory_compute;
    std::vector<Quota> quotas;        ///< one per GPU, in the order in which the container sees the GPUs
    std::optional<Process> attached;  ///< its first process, once it is known; later the oldest that is left
    /// User id of who asked for it: root for the containers of its engine. Empty: it was created when that
    /// wasn't stored.
    std::optional<std::uint32_t> creator = std::nullopt;
    std::string image = {};  ///< what the container was made from, for people; empty: not known
    Owner owner = {};
    std::optional<TimeLimit> time = std::nullopt;  ///< empty: it may be there as long as it likes
    std::optional<Reservation> reservation = std::nullopt;
    std::optional<IdleLimit> idle = std::nullopt;  ///< empty: it may be without work as long as it likes

    /// Its quota on the GPU, or null.
    [[nodiscard]] const Quota* quota_on(const Uuid& gpu) const {
        for (const Quota& quota : quotas)
            if (quota.gpu == gpu) return &quota;
        return nullptr;
    }

    friend bool operator==(const Instance&, const Instance&) = default;
};

/// Whether its time is over, or it was without work for too long: its processes were asked to end.
[[nodiscard]] inline bool is_ending(const Instance& instance) {
    return (instance.time && instance.time->over) || (instance.idle && instance.idle->over());
}

/// Whether the grace after that is over, too.
[[nodiscard]] inline bool is_closed(const Instance& instance) {
    return (instance.time && instance.time->closed) || (instance.idle && instance.idle->closed);
}

/// Whether it computes nothing on the quota's GPU: it is paused there, or its end and the grace are over.
[[nodiscard]] inline bool computes_nothing(const Instance& instance, const Quota& quota) {
    return quota.paused || is_closed(instance);
}

/// An instance as a node of this generation had it.
struct InstanceRecord {
    Instance instance;
    std::uint64_t generation = 0;
};

/// As messages name it: `instance 3f2a4c5d6e7f (train)`; without the parentheses if it has no name. The name
/// was chosen by others, so it is quoted and stays on one line.
[[nodiscard]] std::string describe(const Instance& instance);

}  // namespace cgpu::model
