#pragma once

#include <string>
#include <vector>

#include "client/run/driver/driver_files.hpp"

namespace cgpu::client {

/// Mounts the fronts over these libraries of the driver (an empty file over those to hide), below this root
/// and in this mount namespace, and hands the libraries behind the fronts to cgpud. `link_folder`: the
/// instance's, on the host.
[[nodiscard]] Result<void> put_fronts_before(const std::vector<DriverLibrary>& driver,
                                             const std::string& link_folder, const Root& root);

}  // namespace cgpu::client
