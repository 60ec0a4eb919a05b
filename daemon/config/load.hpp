#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "daemon/config/config.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Where the layers are. Later ones win, value by value: the defaults that are installed, the administrator's
/// file, the drop-ins (`*.yaml` by name), the command line. Files that are not there are left out.
struct Sources {
    std::filesystem::path defaults = "/usr/lib/cgpu/cgpud.yaml";
    std::filesystem::path main = "/etc/cgpu/cgpud.yaml";
    std::filesystem::path drop_ins = "/etc/cgpu/cgpud.yaml.d";
    /// `key=value`, where a key below another is joined by a point: `weights.trainer=4`,
    /// `gpus.0.policy=fixed`.
    std::vector<std::string> overrides;
};

/// Reads all layers. Error: all that is wrong with any of them, at least one; then nothing of it is used.
[[nodiscard]] tl::expected<Config, Problems> load(const Sources& sources);

}  // namespace cgpu::config
