#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The daemon's view of the node, as plain values.
namespace cgpu::client {

struct Gpu {
    std::string uuid;
    std::uint32_t index = 0;
    std::string model;
    bool present = true;
    std::string obstacle;                ///< why it takes no instance; empty: it does
    std::uint64_t memory_total = 0;      ///< bytes that can be allocated on the card
    std::uint64_t memory_allocated = 0;  ///< bytes: the sum of the limits
    std::uint64_t memory_used = 0;       ///< bytes charged by all instances
    std::uint64_t memory_leased = 0;     ///< bytes
    /// Bytes in use on the card, by the driver, when cgpud queried it last; empty: it hasn't yet.
    std::optional<std::uint64_t> memory_in_driver;
    std::uint64_t memory_charged_then = 0;  ///< memory_used at that moment
    std::uint64_t xid_errors = 0;           ///< that its driver has reported since cgpud was started
    std::uint64_t last_xid = 0;             ///< NVIDIA's number of the last one; 0: none yet
    /// 0..1 of the GPU's time: what processes of no instance use, by the driver's samples; empty: nobody
    /// knows.
    std::optional<double> strangers;
    std::uint64_t strangers_process = 0;  ///< host pid of the one that uses most; 0: none does
    std::uint32_t policy = 0;
    std::string policy_name;
    std::uint32_t max_inst = 0;
    std::uint32_t free_weight = 0;
    std::uint32_t prio_ratio = 0;  ///< per cent
    std::string mode;

    /// Whether cgpu divides the compute now. Otherwise the driver does, and nothing is measured.
    [[nodiscard]] bool is_measured() const {
        return present && mode == "memory+compute" && policy_name != "native";
    }
};

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
};

/// Launches that waited no longer than `most`, and longer than the entry before says.
struct Waits {
    std::int64_t most = 0;  ///< nanoseconds; INT64_MAX: no bound
    std::uint64_t launches = 0;
};

/// The current use of a quota.
struct Usage {
    std::uint64_t memory_used = 0;          ///< bytes
    std::uint64_t memory_leased = 0;        ///< bytes
    std::uint64_t memory_peak = 0;          ///< bytes: the most that it used so far
    std::uint64_t memory_unexplained = 0;   ///< bytes of memory_used that came without the module
    std::uint64_t allocations_refused = 0;  ///< because of the memory limit
    std::uint64_t gpu_time = 0;             ///< nanoseconds
    std::uint64_t waited = 0;               ///< nanoseconds
    std::uint64_t longest_kernel = 0;       ///< nanoseconds
    std::uint64_t launches = 0;
    std::uint64_t preemptions = 0;
    std::vector<Waits> launch_waits;      ///< of launches that had to wait, the shortest first
    std::uint64_t launch_waits_time = 0;  ///< nanoseconds, of all of them
    /// 0..1; empty if the driver divides the compute: then there is no target, and nothing is measured.
    std::optional<double> target_share;
    std::optional<double> achieved_share;
    /// 0..1: what it uses of the GPU's time beyond what it reports, as far as cgpud knows. Empty if nobody
    /// could know.
    std::optional<double> compute_unexplained;
    std::vector<std::uint32_t> processes;                        ///< host pids
    std::map<std::uint32_t, std::uint64_t> memory_of_processes;  ///< bytes of memory_used by host pid
    std::vector<std::uint32_t> processes_outside;  ///< host pids of those that use the GPU outside the module
};

struct OnGpu {
    Quota quota;
    Usage usage;
};

/// A GPU that isn't the instance's and that its processes use outside the module.
struct ForeignGpu {
    std::string uuid;
    std::uint32_t index = 0;
    Usage usage;
};

struct Instance {
    std::string id;
    std::string name;
    std::string state;           ///< waiting, running
    std::uint64_t created = 0;   ///< seconds since 1970
    std::uint32_t pid = 0;       ///< 0 while waiting
    std::vector<OnGpu> gpus;     ///< in the order in which it sees them
    std::string module_version;  ///< what its processes run: one, several with blanks between, or none
    std::vector<ForeignGpu> foreign_gpus = {};
    bool managed = true;     ///< false: a container without a limit that books its GPUs
    std::string image = {};  ///< what the container was made from; empty: not known
    /// Host pids of processes that got no driver, the last one for each reason (a word).
    std::map<std::string, std::uint32_t> without_driver = {};

    [[nodiscard]] const OnGpu* on(const std::string& uuid) const {
        for (const OnGpu& place : gpus)
            if (place.quota.gpu == uuid) return &place;
        return nullptr;
    }
};

/// A container without a limit: it got GPUs and asked for no part of one.
struct UnmanagedContainer {
    std::string id;
    std::string name;
    std::uint64_t created = 0;                    ///< seconds since 1970
    std::uint32_t pid = 0;                        ///< 0: not known yet
    std::vector<std::string> gpus;                ///< UUIDs of those that it named; empty: all
    std::map<std::string, std::uint64_t> memory;  ///< bytes that it holds by the driver's figures, by UUID
};

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

/// One reason why cgpud has refused its configuration files at a reload, and keeps the former configuration.
struct ConfigurationProblem {
    std::string file;
    std::uint32_t line = 0;   ///< from 1; 0: it concerns the whole file
    std::string message;      ///< `where: what: why. Try: …`
    std::uint64_t since = 0;  ///< seconds since 1970
};

struct Snapshot {
    std::string version;
    std::string module_version;                  ///< in force; empty if it isn't installed
    std::vector<std::string> modules_installed;  ///< ascending
    std::string mode;                            ///< of instances that request none
    bool mode_is_switched = false;               ///< else it is the configuration's
    std::uint64_t default_memory = 0;            ///< bytes, of instances that request memory without a number
    bool default_memory_is_set = false;          ///< else it is the configuration's
    std::optional<Job> job;                      ///< under way, or the last one
    std::vector<ConfigurationProblem> configuration_problems;  ///< empty: the files are in force
    std::vector<std::string> newer_driver_functions;           ///< than cgpud knows; sorted
    std::map<std::string, std::uint64_t> event_counts;         ///< by type, since cgpud's start
    /// Nanoseconds since the figures of usage were read: cgpud renews them once a second for others than
    /// root.
    std::uint64_t usage_age = 0;
    std::vector<Gpu> gpus;                      ///< by index, those that are not present last
    std::vector<Instance> instances;            ///< the oldest first
    std::vector<UnmanagedContainer> unmanaged;  ///< without those that are instances
};

}  // namespace cgpu::client
