#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "client/modules/engine_users.hpp"
#include "core/upgrade/manifest.hpp"

namespace cgpu::client {

/// A version in the folder of modules.
struct InstalledModule {
    upgrade::Version version;
    std::filesystem::path folder;
    std::optional<upgrade::Manifest> manifest;  ///< empty if it can't be read
    std::string fault;                          ///< why it can't be used; empty if it can
    std::vector<std::uint32_t> processes;       ///< pids that have it mapped

    [[nodiscard]] bool sound() const { return fault.empty(); }
};

[[nodiscard]] InstalledModule look_at_module(const std::filesystem::path& modules,
                                             const upgrade::Version& version, const EngineUsers& users);

/// All versions, the oldest first.
[[nodiscard]] std::vector<InstalledModule> installed_modules(const std::filesystem::path& modules,
                                                             const EngineUsers& users);

}  // namespace cgpu::client
