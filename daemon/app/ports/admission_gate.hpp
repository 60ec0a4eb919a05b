#pragma once

#include <optional>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Decides, beside the service, whether new instances are admitted: an upgrade or a switch of the mode closes
/// it temporarily. The service tells it when the instances change.
class AdmissionGate {
  public:
    virtual ~AdmissionGate() = default;
    /// Refused, with the reason, while no instance is admitted.
    [[nodiscard]] virtual Result<void> open() const = 0;
    /// The mode of instances that request none; empty: that of their GPUs.
    [[nodiscard]] virtual std::optional<model::Mode> mode() const = 0;
    /// An instance was created or has ended.
    virtual void instances_changed() = 0;
};

}  // namespace cgpu::app
