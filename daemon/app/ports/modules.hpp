#pragma once

#include <vector>

#include "core/upgrade/manifest.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// The versions of the module that are installed on this node.
class Modules {
  public:
    virtual ~Modules() = default;
    /// In ascending order. Versions whose manifest can't be read are left out; nothing else is checked.
    virtual std::vector<upgrade::Manifest> list() = 0;
    /// Checks all of a version: the manifest, the owner of its files, the engine's checksum and machine.
    /// Refused with the first fault; not_found if there is no such version.
    virtual Result<upgrade::Manifest> verified(upgrade::Version version) = 0;
};

}  // namespace cgpu::app
