#include "daemon/bus/calls/callers.hpp"

#include <utility>

namespace cgpu::bus {

std::optional<compat::Credentials> Callers::find(const std::string& connection) const {
    const auto found = known_.find(connection);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
}

void Callers::add(const std::string& connection, const compat::Credentials& credentials) {
    if (!known_.emplace(connection, credentials).second) return;
    by_age_.push_back(connection);
    if (by_age_.size() <= kMost) return;
    known_.erase(by_age_.front());
    by_age_.pop_front();
}

compat::Caller Callers::caller_of(const sdbus::IObject& object) {
    const auto& message = compat::message_of(object);
    const std::string name = message.getSender();
    auto credentials = find(name);
    if (!credentials) {
        credentials = compat::credentials_of(message);
        add(name, *credentials);
    }
    return compat::caller_from(message, *credentials);
}

}  // namespace cgpu::bus
