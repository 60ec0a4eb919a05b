#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cgpu::cgpuctl::doctor {

/// The absolute paths on the host that a CDI specification mounts (`hostPath`), in YAML or JSON, each once.
[[nodiscard]] std::vector<std::string> host_paths_of(std::string_view specification);

/// The UUIDs of the GPUs of which a specification that cgpuctl has written describes parts, each once.
[[nodiscard]] std::vector<std::string> shared_gpus_of(std::string_view specification);

}  // namespace cgpu::cgpuctl::doctor
