#include "core/schedule/base/rules.hpp"

namespace cgpu::schedule {

Rules rules_of(model::Policy policy) {
    using model::Policy;
    //                                   enforced conserving weighted spare  fills
    switch (policy) {
        case Policy::fair_share:
            return {true, false, false, true, false};
        case Policy::preemptive:
            return {true, true, false, false, false};
        case Policy::weighted:
            return {true, false, true, false, false};
        case Policy::fixed:
            return {true, false, true, true, false};
        case Policy::soft:
            return {true, true, false, false, true};
        case Policy::native:
            break;
    }
    return {false, true, false, false, false};
}

}  // namespace cgpu::schedule
