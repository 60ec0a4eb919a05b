#pragma once

#include <optional>
#include <vector>

#include "core/model/instance_id.hpp"
#include "core/model/mode.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// The modes that the configuration has for each GPU, for a switch back to them.
class ModesOfGpus {
  public:
    virtual ~ModesOfGpus() = default;
    /// Whether the GPUs have them now; a mode that the node is switched to doesn't count.
    [[nodiscard]] virtual bool are_as_configured() const = 0;
    /// The instances that must have ended before the GPUs can have them: those whose isolation is stronger
    /// than what is configured for a GPU of theirs, if that is weaker than the mode now: `switched`, else the
    /// GPU's own.
    [[nodiscard]] virtual std::vector<model::InstanceId> in_the_way(
        std::optional<model::Mode> switched) const = 0;
    /// Gives them to the GPUs. Refused: storage.
    virtual Result<void> take_configured() = 0;
};

}  // namespace cgpu::app
