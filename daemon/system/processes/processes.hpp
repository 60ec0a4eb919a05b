#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/app/ports/pid_place.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::system {

/// app::Processes with /proc and pidfds.
class Processes final : public app::Processes {
  public:
    explicit Processes(app::Loop& loop);

    app::Result<model::Process> identify(std::int32_t pid) override;
    bool alive(const model::Process& process) override;
    std::optional<std::uint32_t> user_of(const model::Process& process) override;
    app::ProcessOwner owner_of(const model::Process& process) override;
    std::int32_t parent_of(const model::Process& process) override;
    app::WatchPtr on_exit(const model::Process& process, std::function<void()> call) override;
    bool sees(const model::Process& process, const std::filesystem::path& folder) override;
    app::WatchPtr find_first_to_see(const std::filesystem::path& folder, std::vector<model::Process> others,
                                    app::FoundProcess call) override;
    bool descends(const model::Process& process, const model::Process& ancestor) override;
    std::unique_ptr<app::ProcessLook> look_at(const model::Process& process) override;
    std::string cgroup_made_for(const model::Process& process, std::string_view id) override;
    bool stopped(const model::Process& process) override;
    app::Result<void> signal(const model::Process& process, app::Signal signal) override;
    [[nodiscard]] bool may_signal_others() const override { return may_kill_others(); }
    bool runs_for(const model::Process& process, std::uint32_t user) override;

    /// Whether signal() may signal processes of other users.
    [[nodiscard]] static bool may_kill_others();

    /// Empty if the process has ended.
    [[nodiscard]] app::PidPlace pid_place(const model::Process& process);

    /// /proc/sys/kernel/random/boot_id: distinguishes processes of this boot from those of earlier ones.
    [[nodiscard]] const std::string& boot_id() const { return boot_id_; }

  private:
    app::Loop& loop_;
    std::string boot_id_;
};

/// The effective user id in the text of /proc/PID/status.
std::optional<std::uint32_t> effective_user_in(std::string_view status);

/// Field 22 of the text of /proc/PID/stat.
std::optional<std::uint64_t> start_time_in(std::string_view stat);

}  // namespace cgpu::system
