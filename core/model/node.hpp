#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/gpu.hpp"
#include "core/model/instances.hpp"
#include "core/model/kept.hpp"
#include "core/model/refusal.hpp"
#include "core/model/shared.hpp"

namespace cgpu::model {

/// The result of a successful transition: `unchanged` if the requested value was already set.
enum class Change { changed, unchanged };

/// How long a setting holds.
enum class Lasts {
    until_set_again,
    until_reboot,   ///< then the value from before holds again (`--runtime`)
    as_configured,  ///< it follows the configuration again
};

/// What holds again once the machine has been started again, for what was set until then.
struct UntilReboot {
    std::map<Uuid, GpuSettings> gpus;
    std::optional<std::optional<Bytes>> default_memory;  ///< the inner one empty: the configuration's

    [[nodiscard]] bool empty() const { return gpus.empty() && !default_memory; }
    friend bool operator==(const UntilReboot&, const UntilReboot&) = default;
};

/// A GPU that NVML shows, with the settings that it gets if the node does not know it yet.
struct Sighting {
    SeenGpu gpu;
    GpuSettings settings_if_new;
};

/// An instance and its quota on the GPU in question.
struct Occupant {
    const Instance* instance;
    const Quota* quota;
};

/// The complete state of the node as one value. It only changes by the transitions below; each is done
/// completely or, with a Refusal, not at all. Copy it to try a change: copies share what they don't change.
///
/// Invariants: GPUs and instances are unique, every quota is on a known GPU and has memory, no GPU has more
/// instances or a larger sum of weights than its max_inst, a weight that was requested as a percentage is
/// that part of max_inst, all instances on a GPU have one mode, and an exclusive one is alone. The limits on
/// a GPU never add up to more than its total at the time when they were granted. Settings are kept for at
/// most kMaxKept devices, at least one for each.
class Node {
  public:
    using Instances = model::Instances;

    Node() = default;
    /// A saved node. Refused if it violates one of the rules above.
    [[nodiscard]] static tl::expected<Node, Refusal> restore(
        std::uint64_t generation, std::vector<Gpu> gpus, std::vector<Instance> instances, Kept kept = {},
        std::optional<Bytes> default_memory = std::nullopt, UntilReboot until_reboot = {},
        std::string boot_id = {}, SpentList spent = {});

    /// Grows with every change.
    [[nodiscard]] std::uint64_t generation() const { return generation_; }
    /// By index; absent ones come last.
    [[nodiscard]] const std::vector<Gpu>& gpus() const { return gpus_; }
    [[nodiscard]] const Instances& instances() const { return instances_; }
    [[nodiscard]] const Gpu* find_gpu(const Uuid& uuid) const;
    /// Searches the present GPUs: an absent one has no index any more.
    [[nodiscard]] const Gpu* find_gpu_by_index(std::uint32_t index) const;
    [[nodiscard]] const Instance* find_instance(const InstanceId& id) const;
    /// The instances on a GPU, by id. The pointers live as long as the node is not changed.
    [[nodiscard]] std::vector<Occupant> occupants_of(const Uuid& gpu) const;

    /// The memory of instances that request none by a number, as it was set for the node. Empty: the
    /// configuration's holds.
    [[nodiscard]] std::optional<Bytes> default_memory() const { return default_memory_; }

    /// All kept settings, whether or not such instances are running.
    [[nodiscard]] const Kept& kept() const { return kept_.get(); }
    [[nodiscard]] const Shared<Kept>& share_kept() const { return kept_; }
    /// The settings kept for a new instance of this owner, id and name.
    [[nodiscard]] KeptOfInstance kept_of(std::uint32_t owner, const InstanceId& id,
                                         const std::string& name) const;

    /// Instances that ended when their time was over.
    [[nodiscard]] const SpentList& spent() const { return spent_.get(); }
    /// Null: an instance of this id may be started.
    [[nodiscard]] const Spent* find_spent(const InstanceId& id) const;

    // Sums over the instances on a GPU; zero for an unknown GPU.
    [[nodiscard]] Bytes allocated(const Uuid& gpu) const;
    /// What is neither allocated nor held by unmanaged containers.
    [[nodiscard]] Bytes free_memory(const Uuid& gpu) const;
    [[nodiscard]] std::uint32_t used_weight(const Uuid& gpu) const;
    /// max_inst − Σ weight.
    [[nodiscard]] std::uint32_t free_weight(const Uuid& gpu) const;
    /// The mode of the instances on the GPU; while it is empty, its configured mode.
    [[nodiscard]] Mode mode_in_force(const Gpu& gpu) const;
    /// The policy set for the GPU in mode memory+compute, else native.
    [[nodiscard]] Policy policy_in_force(const Gpu& gpu) const;
    /// Whether an instance in that mode could be put on the quota's GPU now.
    [[nodiscard]] tl::expected<void, Objection> check_quota(Mode mode, const Quota& quota) const;

    /// Adds GPUs that NVML shows for the first time with their settings, and keeps those that it no longer
    /// shows, marked absent. Refused (invalid): a UUID or index twice, a GPU without memory. A known GPU that
    /// isn't among them is not present; if it had the index of a lost one, its obstacle gives the reason.
    [[nodiscard]] tl::expected<Change, Refusal> sync_gpus(const std::vector<Sighting>& seen,
                                                          const std::vector<LostGpu>& lost = {});
    /// The driver is gone: no GPU is present, and their obstacles give the reason.
    Change lose_driver(const std::string& why);

    /// What unmanaged containers hold of a GPU by the driver's figures, in whole MiB. It isn't saved: it is
    /// found anew after a restart.
    [[nodiscard]] Bytes held_unmanaged(const Uuid& gpu) const;
    void set_held_unmanaged(std::map<Uuid, Bytes> held) { held_unmanaged_ = std::move(held); }

    /// The boot that settings are made in; what is set until the reboot ends with it.
    [[nodiscard]] const std::string& boot_id() const { return boot_id_; }
    void set_boot_id(std::string boot_id) { boot_id_ = std::move(boot_id); }
    [[nodiscard]] const UntilReboot& until_reboot() const { return until_reboot_; }
    /// The machine has been started again: what was set until then ends. So do all instances, because their
    /// processes have.
    Change boot_ended();

    /// Takes those settings of a GPU from the configuration that nobody has set by hand, except the mode:
    /// that is switched for the node. max_inst stays if set_max_inst() would refuse it.
    Change follow(const Uuid& gpu, const GpuSettings& configured);

    // Settings of a GPU. Refused: not_found, and as named.
    [[nodiscard]] tl::expected<Change, Refusal> set_policy(const Uuid& gpu, Policy policy,
                                                           Lasts lasts = Lasts::until_set_again);
    /// 1..25. Weights that were requested as a percentage are recomputed; the others stay. Busy if it would
    /// be below Σ weights or the number of instances, or if a percentage would not be a whole number of
    /// slices.
    [[nodiscard]] tl::expected<Change, Refusal> set_max_inst(const Uuid& gpu, std::uint32_t max_inst,
                                                             Lasts lasts = Lasts::until_set_again);
    /// 20..99.
    [[nodiscard]] tl::expected<Change, Refusal> set_prio_ratio(const Uuid& gpu, std::uint32_t per_cent,
                                                               Lasts lasts = Lasts::until_set_again);
    /// Of instances that request no mode, unless the node is switched to one. Instances that are there keep
    /// theirs.
    [[nodiscard]] tl::expected<Change, Refusal> set_mode(const Uuid& gpu, Mode mode);

    /// A drained GPU takes no new instance: admission refuses it. Those that are there stay.
    [[nodiscard]] tl::expected<Change, Refusal> set_drained(const Uuid& gpu, bool drained);

    /// Zero: such instances aren't managed. Empty: the configuration's holds again.
    Change set_default_memory(std::optional<Bytes> bytes, Lasts lasts = Lasts::until_set_again);

    // The life of an instance.
    /// Sets its generation. Refused: exists, invalid, not_found, unsupported, no_space, no_memory, busy.
    [[nodiscard]] tl::expected<Change, Refusal> add_instance(Instance instance);
    /// A record that was not taken up, and why.
    struct Untaken {
        InstanceRecord record;
        Refusal refusal;
    };
    /// Instances that live, and that this node doesn't have, or has as they were before: all together,
    /// because of the same moment. What the node has of their ids goes; of those that don't fit it stays, if
    /// there is room for it. As add_instance(), but each keeps its generation, by which its leases know it; a
    /// percentage that is no whole number of slices any more becomes the weight that it was. Returns what
    /// doesn't fit.
    [[nodiscard]] std::vector<Untaken> take_up(std::vector<InstanceRecord> records);
    /// The instance, which has what a reservation holds, comes in its place. Refused: not_found (there is no
    /// such reservation), and as add_instance().
    [[nodiscard]] tl::expected<Change, Refusal> take_over(const InstanceId& reservation, Instance instance);
    /// Null: none has this token.
    [[nodiscard]] const Instance* find_reservation(std::string_view token) const;
    /// Busy if another process is attached already. Unsupported: it is a reservation.
    [[nodiscard]] tl::expected<Change, Refusal> attach(const InstanceId& id, const Process& process);
    /// Its first process has ended, and this one of its processes lives on. Invalid if none was attached.
    [[nodiscard]] tl::expected<Change, Refusal> go_on_with(const InstanceId& id, const Process& process);
    /// If its time was over, or it was without work for too long, it becomes one of spent().
    [[nodiscard]] tl::expected<Change, Refusal> remove_instance(const InstanceId& id);
    /// Exists: it is the id of another instance, or what stands for it.
    [[nodiscard]] tl::expected<Change, Refusal> rename(const InstanceId& id, std::string name);
    [[nodiscard]] tl::expected<Change, Refusal> set_time(const InstanceId& id, const TimeLimit& time);
    [[nodiscard]] tl::expected<Change, Refusal> set_idle(const InstanceId& id, const IdleLimit& idle);
    /// A spent one may be started again for so long. Refused: not_found.
    [[nodiscard]] tl::expected<Change, Refusal> grant_spent(const InstanceId& id, std::uint64_t seconds);

    // Its quota on a GPU. Refused: not_found, and as named.
    /// 1..max_inst; no_space if it exceeds what is free. From then on the weight is a fixed number of slices,
    /// also if it was a percentage and the number is the same.
    [[nodiscard]] tl::expected<Change, Refusal> set_weight(const InstanceId& id, const Uuid& gpu,
                                                           std::uint32_t weight);
    /// The same as a percentage of the compute, 1..100, which it stays when max_inst changes. Invalid also:
    /// it is no whole number of slices.
    [[nodiscard]] tl::expected<Change, Refusal> set_percent(const InstanceId& id, const Uuid& gpu,
                                                            std::uint32_t percent);
    /// Positive; no_memory if it exceeds what is free; busy below `in_use`, the bytes that it holds right
    /// now.
    [[nodiscard]] tl::expected<Change, Refusal> set_memory(const InstanceId& id, const Uuid& gpu, Bytes limit,
                                                           Bytes in_use);
    [[nodiscard]] tl::expected<Change, Refusal> set_high_priority(const InstanceId& id, const Uuid& gpu,
                                                                  bool high);
    /// A paused instance keeps its memory, weight and priority, and computes nothing there. Unsupported: it
    /// is to be paused where the driver divides the compute.
    [[nodiscard]] tl::expected<Change, Refusal> set_paused(const InstanceId& id, const Uuid& gpu,
                                                           bool paused);
    /// Memory, weight (or percentage) and priority become those that it was admitted with, all or none.
    /// Refused: as the three above; busy also if it had the whole GPU and others are on it now, or if its
    /// percentage is no whole number of slices any more.
    [[nodiscard]] tl::expected<Change, Refusal> revert_quota(const InstanceId& id, const Uuid& gpu,
                                                             Bytes in_use);

    // The settings kept for the next starts of an instance's name, by its owner.
    /// Adds to the settings kept for the instance's device on this GPU; those that `figures` leaves out stay.
    /// The instance itself isn't changed. Refused: not_found; invalid (nothing to keep); unsupported (it has
    /// no name of its own or a too long one, or its owner isn't known); no_space (kMaxKept).
    [[nodiscard]] tl::expected<Change, Refusal> keep(const InstanceId& id, const Uuid& gpu,
                                                     const KeptFigures& figures);
    /// Drops all settings kept for the name. `owner` may be left out if only one owner has any. Refused:
    /// not_found; invalid (several owners).
    [[nodiscard]] tl::expected<Change, Refusal> forget(std::string_view name,
                                                       std::optional<std::uint32_t> owner);

    friend bool operator==(const Node&, const Node&) = default;

  private:
    struct QuotaPlace;

    [[nodiscard]] tl::expected<Gpu*, Refusal> gpu_for(std::string_view what, const Uuid& uuid);
    /// With its name, if there is such an instance.
    [[nodiscard]] std::string describe_instance(const InstanceId& id) const;
    [[nodiscard]] const Instance* another_users_like(const Instance& instance) const;
    [[nodiscard]] tl::expected<void, Refusal> check_quotas(const Instance& instance) const;
    [[nodiscard]] tl::expected<Instance*, Refusal> instance_for(std::string_view what, const InstanceId& id);
    tl::expected<Change, Refusal> put_weight(const std::string& what, const QuotaPlace& place,
                                             std::uint32_t weight, std::optional<std::uint32_t> percent);
    [[nodiscard]] tl::expected<QuotaPlace, Refusal> quota_for(std::string_view what, const InstanceId& id,
                                                              const Uuid& gpu);
    void note_spent(const Instance& ended);
    void forget_spent(const InstanceId& id);
    void sort_gpus();
    Change changed();
    template <class T>
    Change put(Gpu& gpu, T GpuSettings::*setting, bool SetByHand::*by_hand, T value, Lasts lasts);
    /// Of the instances on the GPU that requested a percentage.
    void fit_weights(const Uuid& gpu, std::uint32_t max_inst);

    std::uint64_t generation_ = 0;
    std::vector<Gpu> gpus_;
    Instances instances_;
    Shared<Kept> kept_;
    Shared<SpentList> spent_;
    std::optional<Bytes> default_memory_;
    UntilReboot until_reboot_;
    std::string boot_id_;
    std::map<Uuid, Bytes> held_unmanaged_;
};

}  // namespace cgpu::model
