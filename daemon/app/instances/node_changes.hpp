#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/app/instances/node_state.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// Settings of a GPU; what is empty stays. At least one is set.
struct GpuChange {
    std::string gpu;                                   ///< any of its names
    std::optional<std::string> policy = std::nullopt;  ///< number or name
    std::optional<std::uint32_t> max_inst = std::nullopt;
    std::optional<std::uint32_t> prio_ratio = std::nullopt;  ///< per cent
    std::optional<bool> drained = std::nullopt;
    bool revert = false;  ///< sets policy, max_inst and prio_ratio, to what is configured
};

/// What an instance may use on a GPU; what is empty stays. At least one is set.
struct QuotaChange {
    /// A word (id, unique prefix of an id, or name), or exactly this one.
    std::variant<std::string, model::InstanceId> instance;
    std::string gpu{};  ///< any of its names; empty if the instance has one GPU only; of revert, and of what
                        ///< does nothing but pause or resume: all of its GPUs
    std::optional<model::Bytes> memory_limit = std::nullopt;
    /// 0 pauses, and leaves the weight as it is; any other resumes, unless `paused` says something else.
    std::optional<std::uint32_t> weight = std::nullopt;
    std::optional<std::uint32_t> percent = std::nullopt;  ///< of the compute, instead of the weight
    std::optional<bool> high_priority = std::nullopt;
    std::optional<bool> paused = std::nullopt;
    bool revert = false;  ///< sets memory, weight and priority, to what the instance was admitted with
};

using NodeChange = std::variant<GpuChange, QuotaChange>;

/// Whether the change lowers what an instance of this user has, as far as the node shows it now: memory,
/// weight, priority, or a pause. Its revert may give more.
[[nodiscard]] bool lowers_own(const model::Node& node, const QuotaChange& change, std::uint32_t user);
/// Whether no instance, or more than one, is meant by the change's word: it is refused, whoever asks.
[[nodiscard]] bool means_no_single_one(const model::Node& node, const QuotaChange& change);

/// Several changes of GPUs and instances as one: all or none, saved once, in force in the same period.
class NodeChanges {
  public:
    static constexpr std::size_t kMost = 256;
    /// The settings that the configuration has for a GPU.
    using Configured = std::function<model::GpuSettings(const model::Gpu& gpu)>;

    NodeChanges(NodeState& state, Links& links, Publisher& publisher, UsageSource& usage,
                Configured configured)
        : state_(state),
          links_(links),
          publisher_(publisher),
          usage_(usage),
          configured_(std::move(configured)) {}

    /// Judges the result, so the order doesn't matter: two instances can exchange their weights. Returns the
    /// node's generation after it. Refused as each change alone, with its number (from 1) in front; invalid:
    /// more than kMost, a setting that is named twice, or one with an option that it can't have: a revert
    /// or drain of GPUs `runtime`, a revert or pause of instances `persist`.
    Result<std::uint64_t> apply(const std::vector<NodeChange>& changes, Options options);
    /// The same for one change, and refusals have no number.
    Result<void> make(const NodeChange& change, Options options);
    /// Puts in force what the configuration says of the GPUs that are present, where nobody has set it by
    /// hand and the instances that are there allow it. See Node::follow().
    void follow_configuration();

  private:
    /// `name` puts the number of a change (from 0) into its refusal.
    Result<void> carry_out(std::span<const NodeChange> changes, Options options,
                           void (*name)(std::size_t change, model::Refusal& refusal));
    void tell(const model::Node& before);

    NodeState& state_;
    Links& links_;
    Publisher& publisher_;
    UsageSource& usage_;
    Configured configured_;
};

}  // namespace cgpu::app
