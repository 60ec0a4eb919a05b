#include "daemon/app/events/refused_calls.hpp"

#include <utility>

namespace cgpu::app {

void RefusedCalls::happened(const RefusedCall& call) {
    using Reason = model::Refusal::Reason;
    if (call.refusal.reason == Reason::try_again) return;
    const bool denied = call.refusal.reason == Reason::not_permitted;
    Event event{.type = denied ? EventType::call_denied : EventType::change_refused,
                .level = denied ? log::Level::warn : log::Level::info};
    event.message = call.method + (denied ? ": denied to " : ": refused to ") + describe(call.who) + ": " +
                    call.refusal.text;
    event.instance = call.instance;
    event.gpu = call.gpu;
    event.by = call.who;
    event.details = {{"method", call.method}, {"reason", std::string(model::to_string(call.refusal.reason))}};
    repeated_.happened(call.who.user, call.method + (denied ? " denied" : " refused"), std::move(event));
}

}  // namespace cgpu::app
