#pragma once

#include <optional>
#include <vector>

#include "daemon/app/ports/examination.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/witness/sources.hpp"
#include "daemon/gpu/reader/nvml_library.hpp"
#include "daemon/gpu/reader/xid_events.hpp"

namespace cgpu::gpu {

/// The processes on a GPU.
struct ListedProcesses {
    std::vector<app::DriverProcess> processes;
    bool all_known = true;  ///< what each of them has
};

/// Queries NVML, blocking. Loads and initialises it at the first use, and again at every further one while
/// that fails, so that a driver that is loaded later is found; and again after the driver has gone away. Used
/// by one thread.
class NvmlReader {
  public:
    /// Refused if there is no driver; a GPU that NVML can't describe is among the lost ones.
    app::Result<model::SeenGpus> list();
    app::Result<app::DriverFigures> processes(const model::Uuid& gpu);
    /// How much the processes on the GPU use it, after that moment. Refused if the driver or the card doesn't
    /// tell, and in MIG mode, where the figures would be of parts of the GPU.
    app::Result<std::vector<app::UtilizationSample>> utilization(const model::Uuid& gpu,
                                                                 std::uint64_t after_us);
    /// A GPU whose processes NVML can't list is left out.
    app::Result<app::ExaminedDriver> examine();

  private:
    app::Result<NvmlDevice> find(const model::Uuid& gpu);
    app::Result<ListedProcesses> processes_on(NvmlDevice device, const model::Uuid& gpu);
    tl::expected<void, model::Refusal> ready();
    /// How many GPUs NVML counts. If it can't, it is shut down, and the next query loads it again.
    app::Result<unsigned> count(const std::string& what);
    [[nodiscard]] tl::unexpected<model::Refusal> failed(const std::string& what, int code) const;
    /// Error: why NVML can't describe it, without a full stop.
    /// `used`: its memory in use, without the driver's reserve.
    tl::expected<model::SeenGpu, std::string> describe(unsigned index, model::Bytes& used);
    /// None if NVML can't list the GPU's processes.
    std::vector<model::MpsServer> mps_servers(const model::SeenGpu& gpu);

    std::optional<NvmlLibrary> nvml_;
    std::optional<XidEvents> xids_;  ///< while NVML is initialised
};

}  // namespace cgpu::gpu
