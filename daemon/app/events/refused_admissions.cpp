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
    if (name.size() <= kLongestName) event.name = name;
    event.by = who;
    event.details = {{"reason", std::string(model::to_string(refusal.reason))}};
    series_of(who.user).happened(std::move(event));
}

Repeated& RefusedAdmissions::series_of(std::uint32_t user) {
    const auto tell = [this](Event told) { events_.happened(std::move(told)); };
    if (const auto known = of_users_.find(user); known != of_users_.end()) return known->second;
    std::erase_if(of_users_, [](const auto& each) { return each.second.quiet(); });
    if (of_users_.size() < kMostUsers) return of_users_.try_emplace(user, loop_, tell).first->second;
    if (!of_others_) of_others_ = std::make_unique<Repeated>(loop_, tell);
    return *of_others_;
}

}  // namespace cgpu::app
