#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "daemon/config/config.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// The layers. Later ones win, value by value: the installed defaults, the administrator's file, the drop-ins
/// (`*.yaml` by name), the command line. Missing files are skipped.
struct Sources {
    std::filesystem::path defaults = "/usr/lib/cgpu/cgpud.yaml";
    std::filesystem::path main = "/etc/cgpu/cgpud.yaml";
    std::filesystem::path drop_ins = "/etc/cgpu/cgpud.yaml.d";
    /// Files that are only judged, as if they were in place: one that has the name of the administrator's
    /// file or of a drop-in is read instead of that, another one as one more drop-in. Each must be there.
    std::vector<std::filesystem::path> judged;
    /// `key=value`; nested keys are joined by a dot: `weights.trainer=4`, `gpus.0.policy=fixed`.
    std::vector<std::string> overrides;
};

struct Loaded {
    Config config;
    std::vector<Entry> entries;  ///< what it was made from, in the order of the layers
    Problems warnings = {};      ///< what may not be as it was meant
};

/// Reads all layers. Error: all faults of all layers, at least one; then nothing of them is used.
[[nodiscard]] tl::expected<Loaded, Problems> load(const Sources& sources);

}  // namespace cgpu::config
