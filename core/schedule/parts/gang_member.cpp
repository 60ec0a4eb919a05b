#include "core/schedule/parts/gang_member.hpp"

namespace cgpu::schedule {

void GangMember::hear(const GangState& others, Nanos now) {
    others_ = others;
    waits_across_gpus_ = now < waits_across_gpus_until_;
}

void GangMember::note_wait_across_gpus(Nanos until) {
    waits_across_gpus_until_ = until;
    waits_across_gpus_ = true;
}

Nanos GangMember::handicap(Nanos slack) const {
    switch (others_.lead) {
        case Lead::none:
            break;
        case Lead::called:
            return -slack;
        case Lead::held:
            return slack;
        case Lead::leaving:
            // With one slack only, the gang would be next again although its work has drained already.
            return 2 * slack;
    }
    return 0;
}

}  // namespace cgpu::schedule
