#include "daemon/app/events/refused_admissions.hpp"

#include <utility>

#include "core/model/quote.hpp"

namespace cgpu::app {

void RefusedAdmissions::happened(std::string_view id, std::string_view name, const Who& who,
                                 const model::Refusal& refusal) {
    if (refusal.reason == model::Refusal::Reason::try_again) return;
    const auto parsed = model::InstanceId::parse(id);
    Event event{.type = EventType::instance_refused, .level = log::Level::warn};
    event.message = "instance " + (parsed ? parsed->short_id() : model::quote(id)) +
                    (name.empty() ? std::string() : " (" + model::quote(name) + ")") + ": refused to " +
                    describe(who) + ": " + refusal.text;
    if (parsed) event.instance = *parsed;
    if (name.size() <= RepeatedByUser::kLongestName) event.name = name;
    event.by = who;
    event.details = {{"reason", std::string(model::to_string(refusal.reason))}};
    repeated_.happened(who.user, name.empty() ? id : name, std::move(event));
}

}  // namespace cgpu::app
