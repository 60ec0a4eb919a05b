#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/app/ports/ports.hpp"
#include "daemon/system/processes/mount_info.hpp"

namespace cgpu::system {

/// app::ProcessLook by /proc: each of its files is read once, however many instances are compared with it,
/// and only if it is asked for. `processes` outlives this object.
class ProcessLook final : public app::ProcessLook {
  public:
    ProcessLook(app::Processes& processes, model::Process process)
        : processes_(processes), process_(std::move(process)) {}

    [[nodiscard]] bool sees(const std::filesystem::path& folder) const override;
    [[nodiscard]] bool descends(const model::Process& ancestor) const override;
    [[nodiscard]] bool is_in_cgroup(const std::string& cgroup) const override;

  private:
    /// Empty if the process has ended by then.
    template <class T>
    const T& read_once(std::optional<T>& value, T (ProcessLook::*read)() const) const;
    [[nodiscard]] std::string text_of(const char* file) const;
    [[nodiscard]] std::vector<model::Process> read_line() const;
    [[nodiscard]] std::vector<MountedFolder> read_mounts() const {
        return mounted_folders(text_of("/mountinfo"));
    }
    [[nodiscard]] std::string read_cgroups() const { return text_of("/cgroup"); }

    app::Processes& processes_;
    model::Process process_;
    mutable std::optional<std::vector<model::Process>> line_;  ///< the process, its parent and so on
    mutable std::optional<std::vector<MountedFolder>> mounts_;
    mutable std::optional<std::string> cgroups_;
};

}  // namespace cgpu::system
