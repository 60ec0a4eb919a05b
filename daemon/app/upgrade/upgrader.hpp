#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/upgrade/flow.hpp"
#include "daemon/app/ports/admission_gate.hpp"
#include "daemon/app/ports/engines.hpp"
#include "daemon/app/ports/job_publisher.hpp"
#include "daemon/app/ports/modules.hpp"
#include "daemon/app/ports/record_store.hpp"
#include "daemon/app/upgrade/upgrade_checks.hpp"

namespace cgpu::app {

/// Runs upgrades and switches of the mode: carries out what upgrade::Flow says, and tells it what happens.
/// One thread: the loop's.
class Upgrader final : public EngineWatch, public AdmissionGate {
  public:
    struct Outside {
        Loop& loop;
        Modules& modules;
        RecordStore& store;
        JobPublisher& publisher;
        UpgradeChecks::Instances instances;
        std::string boot_id;
    };

    /// `own`: what is in force where the record doesn't say.
    Upgrader(upgrade::Record record, const upgrade::Version& own, Outside outside);

    /// Takes up again what the record holds. Once, when the instances and processes that live are known.
    void resume();

    /// Begins a job; its id, or 0 for a dry run. Refused, with nothing changed: invalid, not_found (no such
    /// version), exists (it is in force), busy (a job is under way; cold: instances are in the way),
    /// unsupported (hot: outside the declared range, or a process that can't go over), storage, and what a
    /// bad bundle is refused with.
    Result<std::uint64_t> begin(upgrade::Kind kind, std::string_view version, const UpgradeOptions& options);
    /// Begins the switch to another mode, or ends it at once: where the new one isolates less than the one
    /// before, instances that are isolated more are in the way. Else nobody is: who is there stays as it is.
    /// 0 for a dry run. Refused, with nothing changed: invalid, exists (switched to it already), busy (a job
    /// is under way; instances are in the way), storage.
    Result<std::uint64_t> begin_mode(std::string_view mode, const UpgradeOptions& options);
    /// Refused (not_found) where this job is not under way, busy where it can't be stopped any more.
    Result<void> cancel(std::uint64_t id, bool dry_run);

    [[nodiscard]] const upgrade::Version& in_force() const { return flow_.in_force(); }
    /// The same as text; empty where it is not installed, or damaged.
    [[nodiscard]] const std::string& installed_in_force() const { return installed_in_force_; }
    /// What is in the folder of modules, rising.
    [[nodiscard]] std::vector<upgrade::Manifest> installed() const { return outside_.modules.list(); }
    /// What instances get that ask for no mode: what the node was switched to, else the configuration's.
    [[nodiscard]] model::Mode mode_of_node() const { return flow_.mode().value_or(configured_mode_); }
    /// The configuration's.
    void set_configured_mode(model::Mode mode);
    /// Of the job that is under way, or of the last one; id 0: there has been none.
    [[nodiscard]] upgrade::Flow::Status status() const { return flow_.status(); }
    /// What runs in the processes of an instance, by pid.
    [[nodiscard]] std::map<std::int32_t, std::set<upgrade::Version>> versions(
        const model::InstanceId& id) const {
        return flow_.roster().versions(id);
    }

    void set_engine_control(EngineControl* engines) override { engines_ = engines; }
    [[nodiscard]] std::string engine_for_new(bool switches) const override;
    void known(const upgrade::Known& process) override { happens(process); }
    void connected(const upgrade::Connected& front) override { happens(front); }
    void lost(const upgrade::Lost& front) override;
    void gone(const upgrade::Gone& process) override;
    void said(const upgrade::Said& said) override;

    [[nodiscard]] Result<void> open() const override;
    [[nodiscard]] std::optional<model::Mode> mode() const override { return flow_.mode(); }
    void instances_changed() override;

  private:
    /// The id of the job that the event begins.
    Result<std::uint64_t> start(const upgrade::Event& event, std::size_t in_the_way);
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
    WatchPtr timer_;
};

/// An engine's path below wire::kModuleFolder.
[[nodiscard]] std::string engine_path(const upgrade::Version& version);

}  // namespace cgpu::app
