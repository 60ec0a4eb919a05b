#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/gpu.hpp"
#include "daemon/config/entry.hpp"

namespace cgpu::config {

/// Where values were written: the last of the entries for each. `built in` if there is none. The entries
/// outlive it. To make it takes as long as to sort them; to ask takes no time that grows with them.
class Origins {
  public:
    explicit Origins(const std::vector<Entry>& entries);

    /// Of a key with this path.
    [[nodiscard]] std::string of(const std::vector<std::string>& path) const;
    /// Of a setting of a GPU (GpuKey): its own by UUID, else by index, else that of all GPUs.
    [[nodiscard]] std::string of(const model::SeenGpu& gpu, const std::string& key) const;

  private:
    std::vector<const Entry*> by_path_;  ///< later ones after earlier ones
    std::map<std::pair<model::Uuid, std::string>, const Entry*> by_uuid_;
    std::map<std::pair<std::uint32_t, std::string>, const Entry*> by_index_;
};

/// From words `INDEX=UUID`. Error: one isn't of that form.
[[nodiscard]] tl::expected<std::vector<model::Gpu>, std::string> read_gpus(
    const std::vector<std::string>& words);

/// The GPUs that the entries name and that are none of these; each is named once. None, if there are no GPUs:
/// a node whose driver hasn't been there yet knows none.
[[nodiscard]] Problems unknown_gpus(const std::vector<Entry>& entries, const std::vector<model::Gpu>& gpus);

/// Whether a name below `gpus`, an index or a UUID, is that of one of these.
[[nodiscard]] bool names_one_of(const std::string& name, const std::vector<model::Gpu>& gpus);

}  // namespace cgpu::config
