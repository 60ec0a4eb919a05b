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

void RepeatedByUser::happened(std::uint32_t user, std::string_view name, Event event) {
    std::erase_if(series_, [](const auto& each) { return each.second.quiet(); });
    const auto tell = [this](Event told) { events_.happened(std::move(told)); };
    series_.try_emplace(key_of(user, name), loop_, tell).first->second.happened(std::move(event));
}

}  // namespace cgpu::app
