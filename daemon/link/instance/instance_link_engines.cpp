// Which engines run in the processes of an instance, and how they are exchanged.
#include <algorithm>

#include "core/model/quote.hpp"
#include "daemon/link/instance/instance_link.hpp"

namespace cgpu::link {

void InstanceLink::switch_engine(const upgrade::Switch& order, const std::string& engine) {
    const auto found = std::find_if(connections_.begin(), connections_.end(), [&](const auto& connection) {
        return connection->number() == order.front && connection->usable();
    });
    if (found == connections_.end()) return;
    auto message = wire::make_message<wire::Switch>(order.request);
    message.version = order.to.packed();
    message.deadline_ms = order.deadline_ms;
    wire::put_text(message.engine, engine);
    (*found)->send(message);
}

void InstanceLink::switched(Connection& connection, const wire::Switched& switched) {
    if (connection.role() != wire::Role::compute)
        return malformed(connection, "a Switched without an engine");
    const std::string detail = switched.detail[0] == '\0' ? "" : model::quote(switched.detail);
    outside_.engines.said({who(connection.process()), connection.number(), switched.header.request,
                           switched.result, upgrade::Version::unpack(switched.version), detail});
}

void InstanceLink::forget_engines() {
    for (const auto& [process, peer] : peers_.all()) outside_.engines.gone({who(process)});
}

}  // namespace cgpu::link
