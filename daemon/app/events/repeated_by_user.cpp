#include "daemon/app/events/repeated_by_user.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::app {

RepeatedByUser::Key RepeatedByUser::key_of(std::uint32_t user, std::string_view name) const {
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

bool RepeatedByUser::has_allowance(std::uint32_t user) {
    const auto now = loop_.now();
    std::erase_if(used_, [now](const auto& each) { return each.second <= now; });
    const auto found = used_.find(user);
    const auto used = found == used_.end() ? 0 : found->second - now;
    return used + allowance_.one_more_after <= allowance_.at_once * allowance_.one_more_after;
}

void RepeatedByUser::happened(std::uint32_t user, std::string_view name, Event event) {
    if (has_allowance(user)) {
        auto& until = used_.try_emplace(user, loop_.now()).first->second;
        until += allowance_.one_more_after;
        return tell_(std::move(event));
    }
    std::erase_if(series_, [](const auto& each) { return each.second.quiet(); });
    series_.try_emplace(key_of(user, name), loop_, tell_).first->second.happened(std::move(event));
}

void ComingAndGoing::happened(std::uint32_t user, Event event) {
    if (user == 0) return events_.happened(std::move(event));
    const auto name = kind_of(event.type).name;
    repeated_.happened(user, name, std::move(event));
}

}  // namespace cgpu::app
