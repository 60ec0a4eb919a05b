#pragma once

#include <optional>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// How accurate one instance's predictions of "my work in flight is done at …" were. The gate opens for the
/// next holder before the drain only if they were accurate: an early hand-over runs two contexts at once, and
/// times measured then are unreliable.
class DrainTrust {
  public:
    /// The gate closes now, and the instance predicts its drain at `at`.
    void predict(Nanos at) { predicted_ = at; }
    /// The work has drained. Without a prediction before, nothing is learnt.
    void drained(Nanos at);
    [[nodiscard]] bool good(Nanos allowed_error) const { return error_ < allowed_error; }

  private:
    std::optional<Nanos> predicted_;
    Nanos error_ = kMilli;  // unknown is not trusted
};

}  // namespace cgpu::schedule
