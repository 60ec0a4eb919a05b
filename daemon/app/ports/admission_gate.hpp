#pragma once

#include <optional>

#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Decides, beside the service, whether new instances are admitted: an upgrade or a switch of the mode closes
/// it for a while. It is told when the instances change.
class AdmissionGate {
  public:
    virtual ~AdmissionGate() = default;
    /// Refused, with the reason, while nobody may come in.
    [[nodiscard]] virtual Result<void> open() const = 0;
    /// The mode of those that ask for none; nothing: that of their GPUs.
    [[nodiscard]] virtual std::optional<model::Mode> mode() const = 0;
    /// One has come or gone.
    virtual void instances_changed() = 0;
};

}  // namespace cgpu::app
