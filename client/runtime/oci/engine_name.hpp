#pragma once

#include <string>

#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// The name shown to users for the container `id`: Docker's name for it (`docker run --name`), else the host
/// name that was set, else empty.
///
/// A container's configuration doesn't have Docker's name, and Docker can't be asked, because it waits for
/// the runtime. But Docker keeps a container's /etc/hostname beside its own record of it,
/// FOLDER/ID/config.v2.json, which it writes before it calls the runtime. The format of that file is internal
/// to Docker: if it is different, the host name is used.
[[nodiscard]] std::string engine_name(const OciBundle& bundle, const std::string& id);

}  // namespace cgpu::runtime
