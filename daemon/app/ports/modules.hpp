#pragma once

#include <vector>

#include "core/upgrade/manifest.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// The versions of the module that are installed on this node.
class Modules {
  public:
    virtual ~Modules() = default;
    /// By rising version. Those whose manifest can't be read are left out; nothing else is checked.
    virtual std::vector<upgrade::Manifest> list() = 0;
    /// Reads all of it: the manifest, whom its files belong to, the engine's sum and machine. Refused with
    /// the first thing that is wrong; not_found where there is no such version.
    virtual Result<upgrade::Manifest> verified(upgrade::Version version) = 0;
};

}  // namespace cgpu::app
