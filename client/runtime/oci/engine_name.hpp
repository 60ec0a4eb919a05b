#pragma once

#include <string>

#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// What people call the container `id`: Docker's name for it (`docker run --name`), else the host name that
/// somebody has set, else empty.
///
/// A container's configuration doesn't have Docker's name, and Docker isn't asked: it waits for the runtime.
/// But it keeps /etc/hostname of a container beside its own note of it, FOLDER/ID/config.v2.json, written
/// before the runtime is called. That file's form is Docker's own affair: where it is another one, the host
/// name has to do.
[[nodiscard]] std::string engine_name(const OciBundle& bundle, const std::string& id);

}  // namespace cgpu::runtime
