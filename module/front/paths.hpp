#pragma once

/// Where the front finds the daemon, the real driver and the engine: fixed paths, because the environment
/// belongs to the user. A test build may define others; a running front can't be told.
#ifndef CGPU_LINK_SOCKET
#define CGPU_LINK_SOCKET "/run/cgpu/link/socket"
#endif
#ifndef CGPU_DRIVER_FOLDER
#define CGPU_DRIVER_FOLDER "/run/cgpu/driver"
#endif
#ifndef CGPU_MODULE_FOLDER
#define CGPU_MODULE_FOLDER "/run/cgpu/module"
#endif

namespace cgpu::front {

constexpr const char* kSocketPath = CGPU_LINK_SOCKET;
constexpr const char* kEngineFolder = CGPU_MODULE_FOLDER;
constexpr const char* kRealDriver = CGPU_DRIVER_FOLDER "/libcuda.so.1";
constexpr const char* kRealNvml = CGPU_DRIVER_FOLDER "/libnvidia-ml.so.1";

}  // namespace cgpu::front
