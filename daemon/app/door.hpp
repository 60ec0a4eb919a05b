#pragma once

#include <optional>

#include "daemon/app/ports.hpp"

namespace cgpu::app {

/// Who else has a say in which instances come, and hears how many there are.
class Door {
  public:
    virtual ~Door() = default;
    /// Refused, with the reason, while nobody may come in.
    [[nodiscard]] virtual Result<void> open() const = 0;
    /// The mode of those that ask for none; nothing: that of their GPUs.
    [[nodiscard]] virtual std::optional<model::Mode> mode() const = 0;
    /// One has come or gone.
    virtual void instances_changed() = 0;
};

}  // namespace cgpu::app
