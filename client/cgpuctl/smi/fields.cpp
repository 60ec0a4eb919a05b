#include "client/cgpuctl/smi/fields.hpp"

#include <array>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/smi/figures.hpp"

namespace cgpu::cgpuctl::smi {
namespace {

constexpr std::string_view kMib = "MiB";
constexpr std::string_view kPerCent = "%";
constexpr double kSecond = 1e9;
constexpr double kMilli = 1e6;

using G = GpuRow;
using I = InstanceRow;

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

constexpr std::array kGpuFields = {
    Field<G>{"timestamp", "", "local time of the reading",
             [](const G& row) { return time_text(row.view.taken); }},
    Field<G>{"index", "", "the driver's number of the GPU",
             [](const G& row) { return std::to_string(row.gpu.index); }},
    Field<G>{"uuid", "", "UUID", [](const G& row) { return row.gpu.uuid; }},
    Field<G>{"name", "", "model", [](const G& row) { return row.gpu.model; }},
    Field<G>{"present", "", "no: cgpud knows it, and the driver doesn't show it now",
             [](const G& row) { return yes_or_no(row.gpu.present); }},
    Field<G>{"obstacle", "", "why it takes no instance", [](const G& row) { return row.gpu.obstacle; }},
    Field<G>{"mode", "", "none, memory or memory+compute", [](const G& row) { return row.gpu.mode; }},
    Field<G>{"policy", "", "number of the policy, 0 to 6",
             [](const G& row) { return std::to_string(row.gpu.policy); }},
    Field<G>{"policy.name", "", "name of the policy", [](const G& row) { return row.gpu.policy_name; }},
    Field<G>{"instances.count", "", "instances on it",
             [](const G& row) { return std::to_string(instances_on(row.view.snapshot, row.gpu)); }},
    Field<G>{"instances.max", "", "instances that it takes (max_inst)",
             [](const G& row) { return std::to_string(row.gpu.max_inst); }},
    Field<G>{"weight.free", "", "slices that no instance has",
             [](const G& row) { return std::to_string(row.gpu.free_weight); }},
    Field<G>{"priority.ratio", kPerCent, "what busy high-priority instances may use together",
             [](const G& row) { return std::to_string(row.gpu.prio_ratio); }},
    Field<G>{"memory.total", kMib, "memory that can be allocated on the card",
             [](const G& row) { return mib_text(row.gpu.memory_total); }},
    Field<G>{"memory.allocated", kMib, "sum of the instances' limits",
             [](const G& row) { return mib_text(row.gpu.memory_allocated); }},
    Field<G>{"memory.used", kMib, "memory that the instances use",
             [](const G& row) { return mib_text(row.gpu.memory_used); }},
    Field<G>{"memory.leased", kMib, "memory that cgpud has granted to processes",
             [](const G& row) { return mib_text(row.gpu.memory_leased); }},
    Field<G>{"utilization.gpu", kPerCent, "GPU time that the instances used since the last reading",
             [](const G& row) { return per_cent_text(utilization(row.gpu, row.before, row.view)); }},
    Field<G>{"xid.errors", "", "errors that the driver has reported since cgpud was started",
             [](const G& row) { return std::to_string(row.gpu.xid_errors); }},
    Field<G>{"xid.last", "", "NVIDIA's number of the last error; 0: none",
             [](const G& row) { return std::to_string(row.gpu.last_xid); }},
};

/// Empty on a GPU that isn't the instance's.
template <class Value>
std::string of_quota(const I& row, Value value) {
    return row.place == nullptr ? std::string() : value(row.place->quota);
}

std::string asked_text(const client::Quota& quota) {
    return quota.percent ? std::to_string(*quota.percent) : std::string();
}

std::string instance_utilization(const I& row) {
    return row.place == nullptr ? std::string()
                                : per_cent_text(utilization(row.instance, *row.place, row.before, row.view));
}

/// Times stand still while the driver divides the compute.
std::string time_text_of(const I& row, std::uint64_t nanoseconds, double per) {
    return row.usage().target_share ? time_in(nanoseconds, per) : std::string();
}

constexpr std::array kInstanceFields = {
    Field<I>{"timestamp", "", "local time of the reading",
             [](const I& row) { return time_text(row.view.taken); }},
    Field<I>{"id", "", "full id of the instance", [](const I& row) { return row.instance.id; }},
    Field<I>{"name", "", "name of the container or job", [](const I& row) { return row.instance.name; }},
    Field<I>{"owner", "", "user id of its owner, verified; empty: nobody known",
             [](const I& row) {
                 return row.instance.owner ? std::to_string(*row.instance.owner) : std::string();
             }},
    Field<I>{"owner.declared", "", "owner that a container of root's engine declares",
             [](const I& row) { return row.instance.declared_owner; }},
    Field<I>{"state", "", "waiting or running", [](const I& row) { return row.instance.state; }},
    Field<I>{"pid", "", "host pid of its main process",
             [](const I& row) {
                 return row.instance.pid == 0 ? std::string() : std::to_string(row.instance.pid);
             }},
    Field<I>{"created", "", "local time of its start",
             [](const I& row) { return time_text(row.instance.created); }},
    Field<I>{"module.version", "", "version of the module that its processes run",
             [](const I& row) { return row.instance.module_version; }},
    Field<I>{"gpu.index", "", "index of the GPU",
             [](const I& row) {
                 return std::to_string(row.place != nullptr ? row.place->quota.gpu_index
                                                            : row.foreign->index);
             }},
    Field<I>{"gpu.uuid", "", "UUID of the GPU",
             [](const I& row) { return row.place != nullptr ? row.place->quota.gpu : row.foreign->uuid; }},
    Field<I>{"gpu.own", "", "no: its processes use the GPU outside the module, and it isn't the instance's",
             [](const I& row) { return yes_or_no(row.place != nullptr); }},
    Field<I>{"memory.limit", kMib, "memory limit",
             [](const I& row) {
                 return of_quota(row, [](const client::Quota& q) { return mib_text(q.memory_limit); });
             }},
    Field<I>{"memory.used", kMib, "memory that it uses",
             [](const I& row) { return mib_text(row.usage().memory_used); }},
    Field<I>{"memory.leased", kMib, "memory that cgpud has granted to its processes",
             [](const I& row) { return mib_text(row.usage().memory_leased); }},
    Field<I>{"memory.unexplained", kMib, "the part of memory.used that came without the module",
             [](const I& row) { return mib_text(row.usage().memory_unexplained); }},
    Field<I>{"allocations.refused", "", "calls that were refused because of the memory limit",
             [](const I& row) { return std::to_string(row.usage().allocations_refused); }},
    Field<I>{"weight", "", "weight, in slices",
             [](const I& row) {
                 return of_quota(row, [](const client::Quota& q) { return std::to_string(q.weight); });
             }},
    Field<I>{"compute.asked", kPerCent, "percentage of the compute that it requested and has",
             [](const I& row) { return of_quota(row, &asked_text); }},
    Field<I>{"priority", "", "high or normal",
             [](const I& row) {
                 return of_quota(row, [](const client::Quota& q) {
                     return std::string(q.high_priority ? "high" : "normal");
                 });
             }},
    Field<I>{"utilization.gpu", kPerCent, "GPU time that it used since the last reading",
             &instance_utilization},
    Field<I>{"compute.limit", kPerCent, "share of the GPU that the policy gives it now",
             [](const I& row) { return per_cent_text(row.usage().target_share); }},
    Field<I>{"compute.achieved", kPerCent, "share of the GPU that it got in about the last two seconds",
             [](const I& row) { return per_cent_text(row.usage().achieved_share); }},
    Field<I>{"compute.time", "s", "GPU time since its start, or cgpud's",
             [](const I& row) { return time_text_of(row, row.usage().gpu_time, kSecond); }},
    Field<I>{"compute.waited", "s", "time that its launches waited for its turn",
             [](const I& row) { return time_text_of(row, row.usage().waited, kSecond); }},
    Field<I>{"compute.longest_kernel", "ms", "its longest kernel",
             [](const I& row) { return time_text_of(row, row.usage().longest_kernel, kMilli); }},
    Field<I>{"launches", "", "launches of kernels",
             [](const I& row) { return std::to_string(row.usage().launches); }},
    Field<I>{"preemptions", "", "its turns that others cut short",
             [](const I& row) { return std::to_string(row.usage().preemptions); }},
    Field<I>{"processes.count", "", "its processes that use the module",
             [](const I& row) { return std::to_string(row.usage().processes.size()); }},
    Field<I>{"processes.pids", "", "host pids of these",
             [](const I& row) { return pids_text(row.usage().processes); }},
    Field<I>{"processes.outside", "", "host pids of those that use the GPU outside the module",
             [](const I& row) { return pids_text(row.usage().processes_outside); }},
};

}  // namespace

std::span<const Field<GpuRow>> gpu_fields() { return kGpuFields; }
std::span<const Field<InstanceRow>> instance_fields() { return kInstanceFields; }

}  // namespace cgpu::cgpuctl::smi
