#include "daemon/app/events/event.hpp"

#include <utility>

namespace cgpu::app {

static_assert(
    [] {
        for (std::size_t at = 0; at < kEventKinds.size(); ++at)
            if (kEventKinds[at].type != static_cast<EventType>(at)) return false;
        return true;
    }(),
    "the table is in the order of the enum");

std::string describe(const Who& who) {
    return "user id " + std::to_string(who.user) +
           (who.pid > 0 ? ", process " + std::to_string(who.pid) : std::string());
}

Event event_of(EventType type, log::Level level, const model::Instance& instance, std::string message) {
    Event event{.type = type, .level = level, .message = std::move(message)};
    event.instance = instance.id;
    event.name = instance.name;
    set_owner(event, instance.owner);
    return event;
}

Event event_of(EventType type, log::Level level, const model::Gpu& gpu, std::string message) {
    Event event{.type = type, .level = level, .message = std::move(message)};
    set_gpu(event, gpu);
    return event;
}

log::Subject subject_of(const Event& event) {
    return {.instance = event.instance ? event.instance->str() : std::string(),
            .name = event.name,
            .gpu_index = event.gpu_index,
            .gpu = event.gpu ? event.gpu->to_string() : std::string(),
            .process = event.process};
}

void set_owner(Event& event, const model::Owner& owner) {
    if (owner.user) event.details.try_emplace("owner", std::uint64_t{*owner.user});
    if (!owner.declared.empty()) event.details.try_emplace("declared-owner", owner.declared);
}

void set_gpu(Event& event, const model::Gpu& gpu) {
    event.gpu = gpu.uuid;
    event.gpu_index = gpu.index;
}

}  // namespace cgpu::app
