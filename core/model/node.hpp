#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/gpu.hpp"
#include "core/model/instance.hpp"
#include "core/model/kept.hpp"
#include "core/model/refusal.hpp"

namespace cgpu::model {

/// What a successful transition did: `unchanged` when the value asked for was already there.
enum class Change { changed, unchanged };

/// A GPU that NVML shows, with the settings it gets if the node does not know it yet.
struct Sighting {
    SeenGpu gpu;
    GpuSettings settings_if_new;
};

/// An instance and its quota on the GPU in question.
struct Occupant {
    const Instance* instance;
    const Quota* quota;
};

/// The whole state of the node as one value. It only changes by the transitions below; each is done in full
/// or, with a Refusal, not at all. Copy it to try something out.
///
/// Always true: GPUs and instances are unique, every quota is on a known GPU and has memory, no GPU has more
/// instances or a larger sum of weights than its max_inst, a weight that was asked for as a percentage is
/// that part of max_inst, all instances on a GPU have one mode, and an exclusive one is alone. The limits on
/// a GPU never add up to more than its total at the time they were given. What is kept is of kMaxKept devices
/// at most, and says something of each.
class Node {
  public:
    using Instances = std::map<InstanceId, Instance>;

    Node() = default;
    /// The node as it was saved. Refused when it breaks one of the rules above.
    [[nodiscard]] static tl::expected<Node, Refusal> restore(std::uint64_t generation, std::vector<Gpu> gpus,
                                                             std::vector<Instance> instances, Kept kept = {});

    /// Grows with every change.
    [[nodiscard]] std::uint64_t generation() const { return generation_; }
    /// By index, those not present last.
    [[nodiscard]] const std::vector<Gpu>& gpus() const { return gpus_; }
    [[nodiscard]] const Instances& instances() const { return instances_; }
    [[nodiscard]] const Gpu* find_gpu(const Uuid& uuid) const;
    /// Of the present ones: an absent GPU has no index any more.
    [[nodiscard]] const Gpu* find_gpu_by_index(std::uint32_t index) const;
    [[nodiscard]] const Instance* find_instance(const InstanceId& id) const;
    /// Who is on a GPU, by id. The pointers live as long as the node is not changed.
    [[nodiscard]] std::vector<Occupant> occupants_of(const Uuid& gpu) const;

    /// All that is kept for next starts, instances of which may be there or not.
    [[nodiscard]] const Kept& kept() const { return kept_; }
    /// What is kept for a new instance of this owner, id and name.
    [[nodiscard]] KeptOfInstance kept_of(std::uint32_t owner, const InstanceId& id,
                                         const std::string& name) const;

    // Sums over the instances on a GPU; zero for a GPU that is not known.
    [[nodiscard]] Bytes allocated(const Uuid& gpu) const;
    [[nodiscard]] Bytes free_memory(const Uuid& gpu) const;
    [[nodiscard]] std::uint32_t used_weight(const Uuid& gpu) const;
    /// max_inst − Σ weight (S4).
    [[nodiscard]] std::uint32_t free_weight(const Uuid& gpu) const;
    /// The mode of the instances on the GPU; while it is empty, the one set for it.
    [[nodiscard]] Mode mode_in_force(const Gpu& gpu) const;
    /// The policy set for the GPU in mode memory+compute, else native.
    [[nodiscard]] Policy policy_in_force(const Gpu& gpu) const;
    /// Whether an instance in that mode could be put on the quota's GPU now.
    [[nodiscard]] tl::expected<void, Objection> check_quota(Mode mode, const Quota& quota) const;

    /// GPUs that NVML shows for the first time are added with their settings, those it shows no longer are
    /// kept and marked absent. Refused (invalid): a UUID or index twice, a GPU without memory.
    /// A known GPU that isn't among them is not present; the obstacle of one that had the index of a lost one
    /// says why.
    [[nodiscard]] tl::expected<Change, Refusal> sync_gpus(const std::vector<Sighting>& seen,
                                                          const std::vector<LostGpu>& lost = {});
    /// The driver is gone: no GPU is present, and their obstacles say why.
    Change lose_driver(const std::string& why);

    // Settings of a GPU. Refused: not_found, and as named.
    [[nodiscard]] tl::expected<Change, Refusal> set_policy(const Uuid& gpu, Policy policy);
    /// 1..25. Weights that were asked for as a percentage become that part of it; the others stay. Busy while
    /// it would be below Σ weights or the number of instances, or a percentage would be no whole number of
    /// slices.
    [[nodiscard]] tl::expected<Change, Refusal> set_max_inst(const Uuid& gpu, std::uint32_t max_inst);
    /// 20..99.
    [[nodiscard]] tl::expected<Change, Refusal> set_prio_ratio(const Uuid& gpu, std::uint32_t per_cent);

    // The life of an instance.
    /// Its generation is set here. Refused: exists, invalid, not_found, unsupported, no_space, no_memory,
    /// busy.
    [[nodiscard]] tl::expected<Change, Refusal> add_instance(Instance instance);
    /// Busy when another process is attached already.
    [[nodiscard]] tl::expected<Change, Refusal> attach(const InstanceId& id, const Process& process);
    /// Its first process has ended, and this one of it lives on. Invalid where none was attached.
    [[nodiscard]] tl::expected<Change, Refusal> go_on_with(const InstanceId& id, const Process& process);
    [[nodiscard]] tl::expected<Change, Refusal> remove_instance(const InstanceId& id);

    // Its quota on a GPU. Refused: not_found, and as named.
    /// 1..max_inst; no_space beyond what is free. From then on the weight is a number of slices, also where
    /// it was a percentage and the number is the same.
    [[nodiscard]] tl::expected<Change, Refusal> set_weight(const InstanceId& id, const Uuid& gpu,
                                                           std::uint32_t weight);
    /// Positive; no_memory beyond what is free; busy below `in_use`, the bytes it holds right now.
    [[nodiscard]] tl::expected<Change, Refusal> set_memory(const InstanceId& id, const Uuid& gpu, Bytes limit,
                                                           Bytes in_use);
    [[nodiscard]] tl::expected<Change, Refusal> set_high_priority(const InstanceId& id, const Uuid& gpu,
                                                                  bool high);

    // What is kept for the next starts of an instance's name, by its owner.
    /// Adds to what is kept of the instance's device on this GPU; what `figures` leaves out stays as it was.
    /// The instance itself isn't changed. Refused: not_found; invalid (nothing to keep); unsupported (it has
    /// no name of its own or a too long one, or its owner isn't known); no_space (kMaxKept).
    [[nodiscard]] tl::expected<Change, Refusal> keep(const InstanceId& id, const Uuid& gpu,
                                                     const KeptFigures& figures);
    /// Drops all that is kept for the name. `owner` may be left out where it is kept for one only. Refused:
    /// not_found; invalid (several owners).
    [[nodiscard]] tl::expected<Change, Refusal> forget(std::string_view name,
                                                       std::optional<std::uint32_t> owner);

    friend bool operator==(const Node&, const Node&) = default;

  private:
    struct QuotaPlace;

    [[nodiscard]] tl::expected<Gpu*, Refusal> gpu_for(std::string_view what, const Uuid& uuid);
    /// With its name, where there is such an instance.
    [[nodiscard]] std::string describe_instance(const InstanceId& id) const;
    [[nodiscard]] tl::expected<Instance*, Refusal> instance_for(std::string_view what, const InstanceId& id);
    [[nodiscard]] tl::expected<QuotaPlace, Refusal> quota_for(std::string_view what, const InstanceId& id,
                                                              const Uuid& gpu);
    void sort_gpus();
    Change changed();

    std::uint64_t generation_ = 0;
    std::vector<Gpu> gpus_;
    Instances instances_;
    Kept kept_;
};

}  // namespace cgpu::model
