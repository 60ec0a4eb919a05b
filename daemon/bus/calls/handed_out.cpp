#include "daemon/bus/calls/handed_out.hpp"

#include <systemd/sd-bus.h>

#include <cstring>

#include "dbus/names.hpp"

namespace cgpu::bus {
namespace {

tl::unexpected<model::Refusal> has_too_many(const std::string& method, const std::string& who,
                                            const std::string& remedy) {
    return model::refuse(model::Refusal::Reason::busy, method,
                         "as many descriptors as allowed were sent to " + who +
                             ", and cgpud can't know whether they have been read",
                         remedy);
}

}  // namespace

void HandedOut::Unref::operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }

HandedOut::HandedOut(sdbus::IConnection& connection) {
    const auto proxy = sdbus::createProxy(connection, compat::ServiceName(bus_names::kBus),
                                          sdbus::ObjectPath(bus_names::kBusPath));
    bus_ = compat::bus_of(*proxy);
}

app::Result<void> HandedOut::room_for(const std::string& method, const compat::Caller& caller) const {
    if (caller.uid == 0) return {};
    std::size_t of_user = 0;
    std::size_t of_all = 0;
    for (const auto& [name, receiver] : receivers_) {
        of_all += receiver.count;
        if (receiver.user == caller.uid) of_user += receiver.count;
    }
    const auto own = receivers_.find(caller.name);
    if (own != receivers_.end() && own->second.count >= kMostOfConnection)
        return has_too_many(method, "this connection to the bus", "connect to the bus anew for each call");
    if (of_user >= kMostOfOneUser)
        return has_too_many(method, "connections of user id " + std::to_string(caller.uid),
                            "end programs of this user that called it and are still connected to the bus");
    if (of_all >= kMostOfOthers)
        return has_too_many(method, "connections of all users", "try the same again in a while, or as root");
    return {};
}

void HandedOut::add(const compat::Caller& caller) {
    if (caller.uid == 0) return;
    const auto [found, is_new] =
        receivers_.try_emplace(caller.name, Receiver{*this, caller.name, caller.uid, 0, nullptr, nullptr});
    if (is_new) {
        try {
            watch(found->second);
        } catch (...) {
            receivers_.erase(found);
            throw;
        }
    }
    ++found->second.count;
}

void HandedOut::watch(Receiver& receiver) {
    const auto must = [](int result) {
        if (result < 0)
            throw compat::make_error(bus_names::kFailed, std::string("watching the caller's connection: ") +
                                                             std::strerror(-result));
    };
    const auto ended = [](sd_bus_message*, void* its, sd_bus_error*) {
        const auto& gone = *static_cast<Receiver*>(its);
        gone.all.forget(std::string(gone.name));
        return 0;
    };
    const std::string rule = std::string("type='signal',sender='") + bus_names::kBus + "',path='" +
                             bus_names::kBusPath + "',interface='" + bus_names::kBus +
                             "',member='NameOwnerChanged',arg0='" + receiver.name + "'";
    // Without this function sd-bus would end the connection if the bus refused the rule.
    const auto installed = [](sd_bus_message*, void*, sd_bus_error*) { return 1; };
    sd_bus_slot* slot = nullptr;
    must(sd_bus_add_match_async(bus_, &slot, rule.c_str(), ended, installed, &receiver));
    receiver.end.reset(slot);
    // It may have ended before the bus has heard of the rule. This question is behind the rule.
    const auto answered = [](sd_bus_message* answer, void* its, sd_bus_error*) {
        auto& asked = *static_cast<Receiver*>(its);
        int exists = 1;
        const bool read = sd_bus_message_is_method_error(answer, nullptr) <= 0 &&
                          sd_bus_message_read(answer, "b", &exists) > 0;
        if (read && exists == 0)
            asked.all.forget(std::string(asked.name));
        else
            asked.question.reset();
        return 1;
    };
    must(sd_bus_call_method_async(bus_, &slot, bus_names::kBus, bus_names::kBusPath, bus_names::kBus,
                                  "NameHasOwner", answered, &receiver, "s", receiver.name.c_str()));
    receiver.question.reset(slot);
}

}  // namespace cgpu::bus
