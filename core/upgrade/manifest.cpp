#include "core/upgrade/manifest.hpp"

namespace cgpu::upgrade {

std::string engine_name(const Version& version) { return std::string(kEnginePrefix) + version.str(); }

}  // namespace cgpu::upgrade
