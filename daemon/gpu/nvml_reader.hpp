#pragma once

#include <optional>
#include <vector>

#include "daemon/app/ports/ports.hpp"
#include "daemon/gpu/nvml_library.hpp"
#include "daemon/gpu/xid_events.hpp"

namespace cgpu::gpu {

/// Asks NVML, blocking. Loads and initialises it at first use and, as long as that fails, at every further
/// one, so a driver that is loaded later is found; and again after one that went away. Used from one thread.
class NvmlReader {
  public:
    /// Refused where there is no driver; a GPU that it can say nothing of is among the lost ones.
    app::Result<model::SeenGpus> list();
    app::Result<std::vector<app::DriverProcess>> processes(const model::Uuid& gpu);

  private:
    app::Result<NvmlDevice> find(const model::Uuid& gpu);
    tl::expected<void, model::Refusal> ready();
    /// How many GPUs NVML counts. Where it can't, it is shut down, to be loaded anew by the next question.
    app::Result<unsigned> count(const std::string& what);
    [[nodiscard]] tl::unexpected<model::Refusal> failed(const std::string& what, int code) const;
    /// Error: why NVML can't say anything of it, without a full stop.
    tl::expected<model::SeenGpu, std::string> describe(unsigned index);

    std::optional<NvmlLibrary> nvml_;
    std::optional<XidEvents> xids_;  ///< while NVML is initialised
};

}  // namespace cgpu::gpu
