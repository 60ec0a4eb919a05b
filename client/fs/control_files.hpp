#pragma once

#include <sys/types.h>

#include <array>
#include <string_view>

namespace cgpu::fs {

/// The folder that a file is in: the top, a GPU's, or an instance's within a GPU's.
enum class Level { node, gpu, instance };

enum class File {
    default_memsize,
    inst_ctl,
    upgrade,
    version,
    free_weight,
    major,
    max_inst,
    policy,
    prio_ratio,
    highprio,
    id,
    memsize,
    meminfo,
    weight,
};

struct ControlFile {
    File file;
    std::string_view name;
    Level level;
    mode_t mode;
};

/// The files of cGPU's /proc/cgpu_km. Other than there, only root may write.
inline constexpr std::array kControlFiles = {
    ControlFile{File::default_memsize, "default_memsize", Level::node, 0644},
    ControlFile{File::inst_ctl, "inst_ctl", Level::node, 0200},
    ControlFile{File::upgrade, "upgrade", Level::node, 0644},
    ControlFile{File::version, "version", Level::node, 0444},
    ControlFile{File::free_weight, "free_weight", Level::gpu, 0444},
    ControlFile{File::major, "major", Level::gpu, 0444},
    ControlFile{File::max_inst, "max_inst", Level::gpu, 0644},
    ControlFile{File::policy, "policy", Level::gpu, 0644},
    ControlFile{File::prio_ratio, "prio_ratio", Level::gpu, 0644},
    ControlFile{File::highprio, "highprio", Level::instance, 0644},
    ControlFile{File::id, "id", Level::instance, 0444},
    ControlFile{File::memsize, "memsize", Level::instance, 0644},
    ControlFile{File::meminfo, "meminfo", Level::instance, 0444},
    ControlFile{File::weight, "weight", Level::instance, 0644},
};

}  // namespace cgpu::fs
