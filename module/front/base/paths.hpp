#pragma once

/// Where the front finds the daemon and the engine. The paths are fixed, because the environment is under the
/// user's control. A test build may define others; a running front can't be told.
#ifndef CGPU_LINK_SOCKET
#define CGPU_LINK_SOCKET "/run/cgpu/link/socket"
#endif
#ifndef CGPU_MODULE_FOLDER
#define CGPU_MODULE_FOLDER "/run/cgpu/module"
#endif

namespace cgpu::front {

constexpr const char* kSocketPath = CGPU_LINK_SOCKET;
constexpr const char* kEngineFolder = CGPU_MODULE_FOLDER;

}  // namespace cgpu::front
