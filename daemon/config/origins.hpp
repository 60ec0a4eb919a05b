#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/gpu.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Where the value of a key was written: the last of the entries with this path. `built in` if none has it.
[[nodiscard]] std::string origin_of(const std::vector<Entry>& entries, const std::vector<std::string>& path);

/// The same for a setting of a GPU (GpuKey): its own by UUID, else by index, else that of all GPUs.
[[nodiscard]] std::string origin_of(const std::vector<Entry>& entries, const model::SeenGpu& gpu,
                                    const std::string& key);

/// From words `INDEX=UUID`. Error: one isn't of that form.
[[nodiscard]] tl::expected<std::vector<model::Gpu>, std::string> read_gpus(
    const std::vector<std::string>& words);

/// The GPUs that the entries name and that are none of these; each is named once. None, if there are no GPUs:
/// a node whose driver hasn't been there yet knows none.
[[nodiscard]] Problems unknown_gpus(const std::vector<Entry>& entries, const std::vector<model::Gpu>& gpus);

/// Whether a name below `gpus`, an index or a UUID, is that of one of these.
[[nodiscard]] bool names_one_of(const std::string& name, const std::vector<model::Gpu>& gpus);

}  // namespace cgpu::config
