#include "daemon/app/events/refused_allocations.hpp"

#include <utility>

#include "core/model/size.hpp"

namespace cgpu::app {

using model::Bytes;

void RefusedAllocations::happened(const model::Instance& instance, const Refused& refused) {
    const Bytes used(refused.used);
    const Bytes limit(refused.limit);
    Event event = event_of(
        EventType::allocation_refused, log::Level::warn, instance,
        "instance " + instance.id.short_id() + ": process " + std::to_string(refused.process) +
            ": an allocation of " + model::format_mib_up(Bytes(refused.asked)) + " on GPU " +
            refused.gpu.to_string() + " was refused (refusal " + std::to_string(refused.number) +
            "): " + model::format_mib(used) + " of its limit of " + model::format_mib(limit) + " are in use");
    event.gpu = refused.gpu;
    event.process = refused.process;
    event.details = {{"asked", refused.asked},
                     {"used", refused.used},
                     {"limit", refused.limit},
                     {"free", (limit - used).count()},
                     {"refusals", refused.number}};
    repeated_.happened(instance.creator.value_or(0), refused.gpu.to_string() + " " + instance.id.str(),
                       std::move(event));
}

}  // namespace cgpu::app
