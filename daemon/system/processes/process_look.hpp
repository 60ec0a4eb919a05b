#pragma once

#include <string>
#include <vector>

#include "daemon/app/ports/ports.hpp"
#include "daemon/system/processes/mount_info.hpp"

namespace cgpu::system {

/// app::ProcessLook by /proc: its files are read once, however many instances are compared with them.
class ProcessLook final : public app::ProcessLook {
  public:
    ProcessLook(app::Processes& processes, const model::Process& process);

    [[nodiscard]] bool sees(const std::filesystem::path& folder) const override;
    [[nodiscard]] bool descends(const model::Process& ancestor) const override;
    [[nodiscard]] bool is_in_cgroup(const std::string& cgroup) const override;

  private:
    std::vector<model::Process> line_;  ///< the process, its parent and so on
    std::vector<MountedFolder> mounts_;
    std::string cgroups_;
    bool alive_ = false;  ///< after that was read: else it may be of another process with this pid
};

}  // namespace cgpu::system
