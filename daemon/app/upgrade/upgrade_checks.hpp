#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/upgrade/flow.hpp"
#include "daemon/app/events/event.hpp"
#include "daemon/app/ports/modules.hpp"

namespace cgpu::app {

/// The options of an upgrade, or of a switch of the mode.
struct UpgradeOptions {
    std::optional<std::uint32_t> timeout_s = {};  ///< 1..86400; empty: hot 60, else 600
    bool drain = false;                    ///< cold, mode: wait for instances that block the job to end
    bool dry_run = false;                  ///< check everything, change nothing
    std::optional<Who> by = std::nullopt;  ///< who asked for it
    bool until_reboot = false;             ///< mode: the former one holds again in the next boot
};

/// The checks before a job begins: each returns nothing, or the refusal.
class UpgradeChecks {
  public:
    using Instances = std::function<const model::Node::Instances&()>;

    /// The flow and the modules outlive this object.
    UpgradeChecks(const upgrade::Flow& flow, Modules& modules, Instances instances)
        : flow_(flow), modules_(modules), instances_(std::move(instances)) {}

    /// The seconds; refused (invalid) if they are out of range.
    [[nodiscard]] static Result<std::uint32_t> timeout_of(const UpgradeOptions& options,
                                                          std::uint32_t otherwise);
    /// Busy while a job is under way.
    [[nodiscard]] Result<void> idle(const std::string& what) const;
    /// The target version, if no job is under way and it is installed, valid and not in force.
    [[nodiscard]] Result<upgrade::Manifest> target(std::string_view version) const;
    /// Unsupported if the versions or any process forbid a hot upgrade.
    [[nodiscard]] Result<void> hot(const upgrade::Manifest& target) const;
    /// The instances that must have ended before `to` can take effect.
    [[nodiscard]] std::vector<model::InstanceId> in_the_way(const upgrade::Setting& from,
                                                            const upgrade::Setting& to) const;
    /// Busy, naming them, unless the job waits for them.
    [[nodiscard]] static Result<void> nobody_in_the_way(const std::string& what,
                                                        const std::vector<model::InstanceId>& instances,
                                                        const UpgradeOptions& options, const char* remedy);

  private:
    const upgrade::Flow& flow_;
    Modules& modules_;
    Instances instances_;
};

}  // namespace cgpu::app
