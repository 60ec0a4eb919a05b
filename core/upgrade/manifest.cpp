#include "core/upgrade/manifest.hpp"

namespace cgpu::upgrade {

std::string engine_name(const Version& version) { return "libcgpu-engine.so." + version.str(); }

}  // namespace cgpu::upgrade
