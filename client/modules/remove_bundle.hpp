#pragma once

#include <filesystem>
#include <string>

#include "client/modules/engine_users.hpp"
#include "client/node/values/client_error.hpp"
#include "core/upgrade/version.hpp"

namespace cgpu::client {

/// What the removal of a version depends on.
struct Removal {
    upgrade::Version version;
    std::string in_force;  ///< as the daemon says
    EngineUsers users;
    std::filesystem::path modules;
    std::filesystem::path fronts;  ///< the folder of links to the fronts that new jobs get
    bool dry_run = false;
};

/// Removes a version from the folder of modules, in one step as readers see it. Error: not_found; refused (it
/// is in force, a process runs it, or new jobs get its fronts); not_authorized, failed.
[[nodiscard]] Result<void> remove_bundle(const Removal& removal);

}  // namespace cgpu::client
