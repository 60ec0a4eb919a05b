#pragma once

#include <optional>
#include <vector>

#include "daemon/app/ports.hpp"
#include "daemon/gpu/nvml_library.hpp"

namespace cgpu::gpu {

/// Asks NVML, blocking. Loads and initialises it at first use and, as long as that fails, at every further
/// one, so a driver that is loaded later is found. Used from one thread.
class NvmlReader {
  public:
    app::Result<std::vector<model::SeenGpu>> list();
    app::Result<std::vector<app::DriverProcess>> processes(const model::Uuid& gpu);

  private:
    app::Result<NvmlDevice> find(const model::Uuid& gpu);
    tl::expected<void, model::Refusal> ready();
    [[nodiscard]] tl::unexpected<model::Refusal> failed(const std::string& what, int code) const;
    app::Result<model::SeenGpu> describe(unsigned index);

    std::optional<NvmlLibrary> nvml_;
};

}  // namespace cgpu::gpu
