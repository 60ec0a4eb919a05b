#include "core/schedule/base/rules.hpp"

namespace cgpu::schedule {

Rules rules_of(model::Policy policy) {
    using model::Policy;
    //      enforced conserving shares                spare  fills
    switch (policy) {
        case Policy::fair_share:
            return {true, false, Shares::equal, true, false};
        case Policy::preemptive:
            return {true, true, Shares::equal, false, false};
        case Policy::weighted:
            return {true, false, Shares::by_weight, false, false};
        case Policy::fixed:
            return {true, false, Shares::by_weight, true, false};
        case Policy::soft:
            return {true, true, Shares::equal, false, true};
        case Policy::proportional:
            return {true, true, Shares::as_requested, false, false};
        case Policy::native:
            break;
    }
    return {false, true, Shares::equal, false, false};
}

}  // namespace cgpu::schedule
