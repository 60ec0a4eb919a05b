#pragma once

#include "daemon/app/compute/slicer_thread.hpp"
#include "daemon/app/memory/leases.hpp"
#include "daemon/app/ports/usage.hpp"
#include "daemon/app/witness/sources.hpp"

namespace cgpu::app {

/// Implements UsageSource: memory from the leases, compute from the slicer, and what nobody reports of it
/// from the witness.
class UsageReader final : public UsageSource {
  public:
    UsageReader(Leases& leases, SlicerThread& slicer, const UnreportedUse& witness)
        : leases_(leases), slicer_(slicer), witness_(witness) {}

    [[nodiscard]] InstanceUsage usage(const model::InstanceId& id, const model::Uuid& gpu) const override;
    [[nodiscard]] std::vector<model::Process> members(const model::InstanceId& id,
                                                      const model::Uuid& gpu) const override;
    [[nodiscard]] std::vector<model::Uuid> foreign_gpus(const model::InstanceId& id) const override {
        return leases_.pools().foreign_gpus(id);
    }
    [[nodiscard]] std::optional<StrangersUse> strangers(const model::Uuid& gpu) const override {
        return witness_.strangers(gpu);
    }
    [[nodiscard]] std::uint64_t take_memory_peak(const model::InstanceId& id,
                                                 const model::Uuid& gpu) override {
        return leases_.take_peak(id, gpu);
    }

  private:
    Leases& leases_;
    SlicerThread& slicer_;
    const UnreportedUse& witness_;
};

}  // namespace cgpu::app
