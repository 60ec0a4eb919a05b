#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "daemon/app/ports/modules.hpp"

namespace cgpu::modules {

/// app::Modules in a folder with a folder for each version (bundle/bundle.hpp). It is read again each time:
/// versions are added to it while the daemon runs.
class ModuleFolder final : public app::Modules {
  public:
    explicit ModuleFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

    std::vector<upgrade::Manifest> list() override;
    app::Result<upgrade::Manifest> verified(upgrade::Version version) override;

  private:
    std::filesystem::path folder_;
};

}  // namespace cgpu::modules
