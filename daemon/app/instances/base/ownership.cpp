#include "daemon/app/instances/base/ownership.hpp"

namespace cgpu::app {
namespace {

const model::Instance* find(const model::Node& node, std::string_view id) {
    const auto parsed = model::InstanceId::parse(id);
    return parsed ? node.find_instance(*parsed) : nullptr;
}

}  // namespace

model::Owner owner_of_new(const Caller& caller, const Origin& origin, const std::string& declared) {
    if (caller.user != 0) return model::Owner{caller.user, {}};
    if (origin.runs_as) return model::Owner{origin.runs_as, {}};
    return model::Owner{std::nullopt, declared};
}

bool is_own(const model::Node& node, std::string_view id, const Caller& caller) {
    const auto* instance = find(node, id);
    return instance == nullptr || instance->creator == caller.user;
}

bool may_withdraw(const model::Node& node, std::string_view id, const Caller& caller) {
    const auto* instance = find(node, id);
    return instance == nullptr || (instance->creator == caller.user && !instance->attached);
}

bool is_own(Processes& processes, const model::Process& process, const Caller& caller) {
    return processes.user_of(process) == caller.user;
}

bool may_attach(Processes& processes, const model::Process& process, const Caller& caller) {
    if (caller.user == 0 || is_own(processes, process, caller)) return true;
    if (caller.own_only) return false;
    // A container's first process may have another user id than the one that starts the container, but then
    // its parent doesn't.
    const auto parent = processes.identify(processes.parent_of(process));
    return parent && processes.user_of(*parent) == caller.user;
}

}  // namespace cgpu::app
