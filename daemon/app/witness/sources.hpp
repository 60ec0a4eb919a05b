#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/model/instance.hpp"
#include "core/model/nanos.hpp"
#include "core/model/uuid.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// The driver's sample of one process's use of a GPU.
struct UtilizationSample {
    std::int32_t pid = 0;       ///< of the host; it may have ended
    std::uint64_t percent = 0;  ///< of the time in which a kernel of it ran; values above 100 were seen
    std::uint64_t time_us = 0;  ///< by the driver's clock, when the sample was taken
};

/// Asks the driver how much processes use a GPU. The answers come later, on the loop.
class UtilizationSource {
  public:
    virtual ~UtilizationSource() = default;
    /// The samples after the moment `after_us` (0: all that the driver has). A process without use has none.
    /// Refused (unsupported) if the card has no such figures.
    virtual void utilization(const model::Uuid& gpu, std::uint64_t after_us,
                             std::function<void(Result<std::vector<UtilizationSample>>)> call) = 0;
};

/// What one process says of its work on one GPU. These are a tenant's claims.
struct ComputeReport {
    model::Process process{};
    const void* page = nullptr;  ///< on which it says so: another one begins anew
    model::Nanos used = 0;       ///< GPU time so far
    bool in_flight = false;      ///< it has unfinished work
    model::Nanos oldest = 0;     ///< when the oldest of that began, as far as known; 0: it isn't
    /// Copies and fills so far that aren't measured, on all its GPUs; wraps.
    std::uint32_t small_transfers = 0;
};

/// The connected processes of the instances on a GPU, also of those that have none.
using ComputeReports = std::map<model::InstanceId, std::vector<ComputeReport>>;

class ReportSource {
  public:
    virtual ~ReportSource() = default;
    /// Of the GPUs that have instances, and whose compute is measured.
    [[nodiscard]] virtual std::map<model::Uuid, ComputeReports> reports() = 0;
};

/// What is known of compute that nobody reported or divides.
class UnreportedUse {
  public:
    virtual ~UnreportedUse() = default;
    /// The part of the GPU's time, 0..1, that the instance uses beyond what its processes report; 0: nothing
    /// is known to be.
    [[nodiscard]] virtual double unreported(const model::InstanceId& id, const model::Uuid& gpu) const = 0;
    /// By the last samples. Empty: there are none, or they are old.
    [[nodiscard]] virtual std::optional<StrangersUse> strangers(const model::Uuid& gpu) const = 0;
};

}  // namespace cgpu::app
