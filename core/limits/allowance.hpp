#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "core/limits/rules.hpp"
#include "core/model/node.hpp"

namespace cgpu::limits {

/// What a holder has of a GPU.
struct HeldOnGpu {
    model::Bytes memory;       ///< the sum of its limits
    std::uint32_t weight = 0;  ///< slices
};

/// What a holder has.
struct Held {
    std::map<model::Uuid, HeldOnGpu> gpus;
    std::vector<std::string> instances;  ///< each as `train (4GiB)`, for messages
    std::size_t kept_back = 0;           ///< instances that it hasn't yet: of requests that asked before

    [[nodiscard]] model::Bytes memory() const;
};

[[nodiscard]] Held held_by(const model::Node& node, const Rules& rules, const Holder& holder);

/// What one holder may still get: the rules that hold for it, and what it has. The node outlives this object,
/// and doesn't change meanwhile.
class Allowance {
  public:
    Allowance(const model::Node& node, const Rules& rules, Holder holder)
        : node_(node),
          holder_(std::move(holder)),
          rules_(in_force(rules, holder_)),
          held_(held_by(node, rules, holder_)) {}

    [[nodiscard]] const Holder& holder() const { return holder_; }
    [[nodiscard]] const InForce& rules() const { return rules_; }
    [[nodiscard]] const Held& held() const { return held_; }

    /// It is to have one more instance, which the node doesn't have yet.
    void add(const std::string& name, const std::vector<model::Quota>& quotas);
    /// A request of the holder has asked before, waits, and will take these: nothing else of the holder is to
    /// take them. A GPU that the node doesn't have is one that isn't known yet.
    void keep_back(const std::vector<model::Quota>& quotas);

    /// Whether there may be one more instance, whatever it asks for.
    [[nodiscard]] tl::expected<void, model::Objection> check_number() const;
    /// Whether one of its instances may take so many seconds in all.
    [[nodiscard]] tl::expected<void, model::Objection> check_time(std::uint64_t seconds) const;
    /// Whether one may be without work for so many seconds.
    [[nodiscard]] tl::expected<void, model::Objection> check_idle(std::uint64_t seconds) const;
    /// Whether this quota alone could be added. It names the rule, and what is in use by which instances.
    [[nodiscard]] tl::expected<void, model::Objection> check(const model::Quota& quota) const {
        return check_all({quota});
    }
    /// Whether an instance with all these quotas could be.
    [[nodiscard]] tl::expected<void, model::Objection> check_instance(
        const std::vector<model::Quota>& quotas) const {
        return check_number().and_then([&] { return check_all(quotas); });
    }

  private:
    [[nodiscard]] tl::expected<void, model::Objection> check_span(
        std::uint64_t seconds, const std::optional<Part<std::uint64_t>>& rule, const std::string& of) const;
    [[nodiscard]] tl::expected<void, model::Objection> check_all(
        const std::vector<model::Quota>& quotas) const;
    [[nodiscard]] tl::expected<void, model::Objection> check_gpu(const model::Quota& quota) const;
    [[nodiscard]] tl::expected<void, model::Objection> check_compute(const model::Quota& quota,
                                                                     const HeldOnGpu& has) const;
    [[nodiscard]] std::string remedy() const;
    [[nodiscard]] std::string in_use() const;

    const model::Node& node_;
    Holder holder_;
    InForce rules_;
    Held held_;
};

}  // namespace cgpu::limits
