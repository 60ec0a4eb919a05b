#pragma once

#include <functional>

#include "core/model/refusal.hpp"

namespace cgpu::app {

/// A look at the GPUs before something is refused because of what the last look showed.
class SecondLook {
  public:
    virtual ~SecondLook() = default;

    /// Whether what the driver shows now may allow it. False for what has been tried after such a look.
    [[nodiscard]] virtual bool may_be_outdated(const model::Refusal& refusal) const = 0;
    /// Calls back, on the loop, after a look that begins from now on, whatever it shows.
    virtual void then(std::function<void()> call) = 0;
};

}  // namespace cgpu::app
