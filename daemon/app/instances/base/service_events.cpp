#include "daemon/app/instances/base/service_events.hpp"

#include "core/model/size.hpp"

namespace cgpu::app {

Event admitted(const model::Instance& instance, const model::Quota& quota, const Who& who) {
    auto event =
        event_of(EventType::instance_admitted, log::Level::info, instance,
                 model::describe(instance) + (instance.reservation ? ": reserved" : ": admitted") + ", GPU " +
                     quota.gpu.to_string() + ", " + model::format_mib(quota.memory_limit) + ", weight " +
                     std::to_string(quota.weight) + ", for " + describe(who));
    event.gpu = quota.gpu;
    event.by = who;
    event.details = {{"limit", quota.memory_limit.count()}, {"weight", std::uint64_t{quota.weight}}};
    return event;
}

Event default_memory_set(model::Bytes before, model::Bytes now, bool set, bool until_reboot,
                         const std::optional<Who>& by) {
    Event event{.type = EventType::setting_changed};
    event.message = "the default memory is " + model::format_mib(now) +
                    (set ? ", as set for this node" : ", as configured") +
                    (until_reboot ? ", until the reboot" : "") + ", instead of " + model::format_mib(before) +
                    (by ? ", by " + describe(*by) : "");
    event.by = by;
    event.details = {{"setting", std::string("default-memory")},
                     {"before", model::format_mib(before)},
                     {"after", model::format_mib(now)}};
    return event;
}

std::string shared_by(const model::MpsServer& server) {
    return "an MPS server (process " + std::to_string(server.pid) +
           ") uses it, whose clients share one context, so that their memory and time can't be told apart";
}

}  // namespace cgpu::app
