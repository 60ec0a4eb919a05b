#pragma once

#include <algorithm>
#include <utility>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// What an instance is told, and billed, that it had of a GPU: what it was charged. Work of several instances
/// that is on the GPU together is measured by each of them, and charged once. Of an instance with several
/// processes it is what they have measured together (CommonUse), because their turns are charged with the
/// time in which none of them computes.
class BilledUse {
  public:
    /// What its processes have measured. `own`: it counts, and so does what is charged next. What runs beside
    /// others' work because no gate kept them apart is measured with the others' time, and is nobody's.
    void measured(Nanos used, bool several, bool own) {
        own_ = own;
        several_ = several_ || several;
        if (own) open_ += used;
    }
    /// What the slicer has charged in the step after that; less than nothing if it has paid back.
    void charged(Nanos used) {
        const Nanos together = std::exchange(open_, 0);
        const bool several = std::exchange(several_, false);
        if (own_) charged_ += several ? together : used;
        total_ = std::max(total_, charged_);
    }
    /// Never shrinks.
    [[nodiscard]] Nanos total() const { return total_; }
    [[nodiscard]] bool own() const { return own_; }

  private:
    Nanos open_ = 0;  ///< measured, and nothing has been charged since
    Nanos charged_ = 0;
    Nanos total_ = 0;
    bool own_ = true;
    bool several_ = false;  ///< since the last charge
};

}  // namespace cgpu::schedule
