#pragma once

#include <string>

#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// What the container engine calls a container.
struct EngineRecord {
    /// The name shown to users: the engine's (`docker run --name`), else the host name that was set, else
    /// empty. Without Docker, a name of containerd has its namespace before it: `team/web`; a pod's container
    /// is NAMESPACE/POD/CONTAINER: `default/job/worker`.
    std::string name;
    /// The name of its image (`train:1`), as the engine was asked for it; empty: not known.
    std::string image;
};

/// Reads the record of the container `id`.
///
/// A container's configuration has neither Docker's nor Podman's names, and they can't be asked, because they
/// wait for the runtime. But Docker keeps a container's /etc/hostname beside its own record of it,
/// FOLDER/ID/config.v2.json, and Podman's storage has lists beside the bundles, containers.json and
/// volatile-containers.json; all are written before the runtime is called. Their formats are internal: if
/// they are different, the host name is used. nerdctl and containerd's CRI set annotations.
[[nodiscard]] EngineRecord engine_record(const OciBundle& bundle, const std::string& id);

}  // namespace cgpu::runtime
