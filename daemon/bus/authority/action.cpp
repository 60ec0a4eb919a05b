#include "daemon/bus/authority/action.hpp"

#include <algorithm>

#include "dbus/names.hpp"

namespace cgpu::bus {

std::string_view id_of(Action action) {
    switch (action) {
        case Action::run:
            return bus_names::kRun;
        case Action::manage_own:
            return bus_names::kManageOwn;
        case Action::manage_instance:
            return bus_names::kManageInstance;
        case Action::manage_policy:
            return bus_names::kManagePolicy;
        case Action::trace:
            return bus_names::kTrace;
        case Action::upgrade_module:
            return bus_names::kUpgradeModule;
    }
    return {};
}

std::vector<Action> actions_for(const std::vector<app::NodeChange>& changes, const model::Node& node,
                                std::uint32_t caller) {
    const auto any = [&](auto kind) {
        return std::any_of(changes.begin(), changes.end(),
                           [](const auto& each) { return std::holds_alternative<decltype(kind)>(each); });
    };
    std::vector<Action> actions;
    if (any(app::GpuChange{})) actions.push_back(Action::manage_policy);
    const bool own = std::ranges::all_of(changes, [&](const auto& each) {
        const auto* change = std::get_if<app::QuotaChange>(&each);
        // Who misspells a name, or whose job has the name of another's, reads that, and not that a right is
        // missing.
        return change == nullptr || app::means_no_single_one(node, *change) ||
               app::lowers_own(node, *change, caller);
    });
    if (any(app::QuotaChange{})) actions.push_back(own ? Action::manage_own : Action::manage_instance);
    return actions;
}

app::Options as_authorized(app::Options options, const std::vector<Action>& actions, const app::Who& who) {
    if (std::ranges::find(actions, Action::manage_own) != actions.end()) options.only_lowered_of = who.user;
    options.by = who;
    return options;
}

namespace {
/// Whether one of the GPUs that the request may get is configured to isolate more than it asks for.
bool is_weaker(const request::Request& request, const model::Node& node,
               std::optional<model::Mode> switched) {
    if (!request.mode) return false;
    if (switched) return *request.mode < *switched;
    const auto isolates_more = [&](const model::Gpu& gpu) {
        return gpu.present && *request.mode < gpu.settings.mode;
    };
    if (request.gpus.empty()) return std::ranges::any_of(node.gpus(), isolates_more);
    return std::ranges::any_of(request.gpus, [&](const request::GpuName& name) {
        const auto meant = model::gpus_meant(name, node.gpus());
        return std::ranges::any_of(meant, [&](const model::Gpu* gpu) { return isolates_more(*gpu); });
    });
}
}  // namespace

std::vector<Action> actions_for(const request::Variables& variables, const model::Node& node,
                                std::optional<model::Mode> switched, const request::Profiles& profiles) {
    auto request = request::parse_request(variables);
    if (!request || !*request || !request::apply_profile(**request, profiles)) return {Action::run};
    const bool high = (*request)->high_priority.value_or(false);
    std::vector<Action> actions{high ? Action::manage_instance : Action::run};
    if (is_weaker(**request, node, switched)) actions.push_back(Action::upgrade_module);
    return actions;
}

}  // namespace cgpu::bus
