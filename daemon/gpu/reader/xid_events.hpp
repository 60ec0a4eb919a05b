#pragma once

#include <map>
#include <vector>

#include "core/model/gpu.hpp"
#include "daemon/gpu/reader/nvml_library.hpp"

namespace cgpu::gpu {

/// Collects the Xids that the driver reports between two queries. If the driver or a card has no events,
/// there are none. Used while NVML is initialised.
class XidEvents {
  public:
    /// The library must outlive it.
    explicit XidEvents(const NvmlLibrary& nvml);
    ~XidEvents();
    XidEvents(const XidEvents&) = delete;
    XidEvents& operator=(const XidEvents&) = delete;

    /// Watches the device from now on, unless it is watched already.
    void watch(NvmlDevice device, const model::Uuid& gpu);
    /// The events since the last call, the oldest first. Doesn't wait.
    [[nodiscard]] std::vector<model::XidError> take();

  private:
    const NvmlLibrary& nvml_;
    NvmlEventSet set_ = nullptr;  ///< null where there are no events
    /// A handle stays the same while NVML is initialised. The UUID of a lost device can't be queried any
    /// more.
    std::map<NvmlDevice, model::Uuid> watched_;
};

}  // namespace cgpu::gpu
