#include "daemon/bus/authority/action.hpp"

#include <algorithm>

namespace cgpu::bus {

std::string_view id_of(Action action) {
    switch (action) {
        case Action::run:
            return "org.cgpu1.run";
        case Action::manage_instance:
            return "org.cgpu1.manage-instance";
        case Action::manage_policy:
            return "org.cgpu1.manage-policy";
        case Action::trace:
            return "org.cgpu1.trace";
        case Action::upgrade_module:
            return "org.cgpu1.upgrade-module";
    }
    return {};
}

std::vector<Action> actions_for(const std::vector<app::NodeChange>& changes) {
    const auto any = [&](auto kind) {
        return std::any_of(changes.begin(), changes.end(),
                           [](const auto& each) { return std::holds_alternative<decltype(kind)>(each); });
    };
    std::vector<Action> actions;
    if (any(app::GpuChange{})) actions.push_back(Action::manage_policy);
    if (any(app::QuotaChange{})) actions.push_back(Action::manage_instance);
    return actions;
}

Action action_for(const request::Variables& variables) {
    const auto request = request::parse_request(variables);
    const bool high = request && *request && (*request)->high_priority;
    return high ? Action::manage_instance : Action::run;
}

}  // namespace cgpu::bus
