#include "daemon/app/events/refused_admissions.hpp"

#include <algorithm>
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
    series_of(who.user, name.empty() ? id : name).happened(std::move(event));
}

RefusedAdmissions::Key RefusedAdmissions::key_of(std::uint32_t user, std::string_view name) const {
    Key key(user, name.substr(0, kLongestName));
    if (series_.contains(key)) return key;
    // No user has the last id: it means "none" to the kernel.
    constexpr std::uint32_t kNobody = ~std::uint32_t{0};
    if (series_.size() >= kMostOfAll) return {kNobody, ""};
    const auto of_user = std::count_if(series_.begin(), series_.end(),
                                       [user](const auto& each) { return each.first.first == user; });
    const std::size_t most = user == 0 ? kMostOfRoot : kMostOfUser;
    return static_cast<std::size_t>(of_user) < most ? key : Key(user, "");
}

Repeated& RefusedAdmissions::series_of(std::uint32_t user, std::string_view name) {
    std::erase_if(series_, [](const auto& each) { return each.second.quiet(); });
    const auto tell = [this](Event told) { events_.happened(std::move(told)); };
    return series_.try_emplace(key_of(user, name), loop_, tell).first->second;
}

}  // namespace cgpu::app
