#pragma once

#include <istream>
#include <string>

#include "client/node/values/client_error.hpp"
#include "client/run/driver/library_folders.hpp"
#include "client/runtime/nvidia/nvidia_settings.hpp"

namespace cgpu::runtime {

/// createContainer: in the container's mount namespace, where the host's files are still visible, mounts the
/// fronts over the driver's files below `root_folder`. `environment` is that of the container's process,
/// `state` the container's state as JSON, which the runtime gives on stdin. Error (refused): there is no
/// driver in it; not every folder that may hold one can be covered; or other hooks follow that decide which
/// of several drivers its programs load.
[[nodiscard]] client::Result<void> mount_hook(const std::string& link_folder, const std::string& root_folder,
                                              const client::LoaderEnvironment& environment,
                                              std::istream& state);

/// What to do about a container into which NVIDIA's runtime has brought no driver; without a full stop.
[[nodiscard]] std::string advice(const NvidiaSettings& settings);

}  // namespace cgpu::runtime
