#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/upgrade/flow.hpp"
#include "daemon/app/events/events.hpp"
#include "daemon/app/ports/admission_gate.hpp"
#include "daemon/app/ports/modes_of_gpus.hpp"
#include "daemon/app/ports/modules.hpp"
#include "daemon/app/ports/record_store.hpp"
#include "daemon/app/ports/upgrade/engines.hpp"
#include "daemon/app/ports/upgrade/job_publisher.hpp"
#include "daemon/app/upgrade/upgrade_checks.hpp"

namespace cgpu::app {

/// Runs upgrades and switches of the mode: carries out the actions of upgrade::Flow, and passes events to it.
/// Used by the event-loop thread only.
class Upgrader final : public EngineWatch, public AdmissionGate {
  public:
    struct Outside {
        Loop& loop;
        Modules& modules;
        RecordStore& store;
        JobPublisher& publisher;
        UpgradeChecks::Instances instances;
        std::string boot_id;
        Events& events;
    };

    /// `own`: the version in force if the record has none.
    Upgrader(upgrade::Record record, const upgrade::Version& own, Outside outside);

    /// Resumes what the record has. Call once, when the living instances and processes are known.
    void resume();

    /// Begins a job; returns its id, or 0 for a dry run. Refused, with nothing changed: invalid, not_found
    /// (no such version), exists (it is in force), busy (a job is under way; cold: there are instances),
    /// unsupported (hot: outside the declared range, or a process can't change), storage, and the faults of
    /// an invalid bundle.
    Result<std::uint64_t> begin(upgrade::Kind kind, std::string_view version, const UpgradeOptions& options);
    /// Begins the switch to another mode, or completes it at once. If it lowers isolation, instances with
    /// stronger isolation block it. Otherwise none does: running instances keep their mode. Returns 0 for a
    /// dry run. `configured` goes back to the configuration's mode, and gives each GPU the mode that the
    /// configuration has for it. Refused, with nothing changed: invalid, exists (it is so already), busy (a
    /// job is under way; instances block it), storage.
    Result<std::uint64_t> begin_mode(std::string_view mode, const UpgradeOptions& options);
    /// Refused: not_found if this job is not under way, busy if it can't be stopped any more.
    Result<void> cancel(std::uint64_t id, bool dry_run, std::optional<Who> by = std::nullopt);

    [[nodiscard]] const upgrade::Version& in_force() const { return flow_.in_force(); }
    /// The same as text; empty if it is not installed, or damaged.
    [[nodiscard]] const std::string& installed_in_force() const { return installed_in_force_; }
    /// The installed versions, ascending.
    [[nodiscard]] std::vector<upgrade::Manifest> installed() const { return outside_.modules.list(); }
    /// The mode of instances that request none: the switched mode, else the configured one.
    [[nodiscard]] model::Mode mode_of_node() const { return flow_.mode().value_or(configured_mode_); }
    /// Whether that mode holds until the reboot only.
    [[nodiscard]] bool mode_until_reboot() const { return flow_.mode_until_reboot(); }
    /// Sets the configured mode.
    void set_configured_mode(model::Mode mode);
    /// Must be called before a mode is set. It must outlive this object.
    void set_modes_of_gpus(ModesOfGpus* modes) { modes_of_gpus_ = modes; }
    /// The job under way, or the last one; id 0: there has been none.
    [[nodiscard]] upgrade::Flow::Status status() const { return flow_.status(); }
    /// The versions that the processes of an instance run, by pid.
    [[nodiscard]] std::map<std::int32_t, std::set<upgrade::Version>> versions(
        const model::InstanceId& id) const {
        return flow_.roster().versions(id);
    }

    void set_engine_control(EngineControl* engines) override { engines_ = engines; }
    [[nodiscard]] std::string engine_for_new() const override;
    void known(const upgrade::Known& process) override { happens(process); }
    void connected(const upgrade::Connected& front) override { happens(front); }
    void lost(const upgrade::Lost& front) override;
    void gone(const upgrade::Gone& process) override;
    void said(const upgrade::Said& said) override;

    [[nodiscard]] Result<void> open() const override;
    [[nodiscard]] std::optional<model::Mode> mode() const override { return flow_.mode(); }
    void instances_changed() override;

  private:
    [[nodiscard]] Result<void> is_a_change(const std::string& name, std::optional<model::Mode> mode,
                                           bool until_reboot) const;
    [[nodiscard]] std::vector<model::InstanceId> in_the_way(const upgrade::Setting& from,
                                                            const upgrade::Setting& to,
                                                            bool to_configured) const;
    /// Returns the id of the job that the event begins.
    Result<std::uint64_t> start(const upgrade::Event& event, std::size_t in_the_way,
                                const UpgradeOptions& options);
    void happens(const upgrade::Event& event);
    void carry_out(const upgrade::Save& save);
    void carry_out(const upgrade::Verify& verify);
    void carry_out(const upgrade::Switch& order);
    void carry_out(const upgrade::Over& over);
    void carry_out(const upgrade::Tell& tell);
    void tell_what_changed();
    void look_at_module();

    Outside outside_;
    EngineControl* engines_ = nullptr;
    ModesOfGpus* modes_of_gpus_ = nullptr;
    bool recorded_;  ///< which version is in force
    upgrade::Flow flow_;
    UpgradeChecks checks_;
    std::deque<upgrade::Event> events_;
    bool busy_ = false;
    upgrade::Flow::Status told_;
    upgrade::Version told_in_force_;
    std::optional<model::Mode> told_mode_;
    model::Mode configured_mode_ = model::Mode::memory_compute;
    std::string installed_in_force_;
    std::string save_trouble_;
    std::optional<Who> asked_by_;  ///< for what is carried out now
    WatchPtr timer_;
};

/// An engine's path below wire::kModuleFolder.
[[nodiscard]] std::string engine_path(const upgrade::Version& version);

}  // namespace cgpu::app
