#pragma once

#include <map>
#include <string>
#include <utility>

#include <sdbus-c++/sdbus-c++.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "dbus/compat.hpp"

/// What sdbus-c++ doesn't say of messages, in none of its versions: whether a caller may be asked for a
/// password. sd-bus, below it, does.
namespace cgpu::compat {

/// Whoever sent a message, as the bus saw it when it connected.
struct Caller {
    uid_t uid = 0;             ///< effective
    std::string name;          ///< of its connection: `:1.42`
    bool interactive = false;  ///< it may be asked for a password
};

/// The message below; valid as long as this one.
inline sd_bus_message* sd_message(const sdbus::Message& message) {
    struct Opened : sdbus::Message {
        static void* of(const sdbus::Message& closed) { return closed.*(&Opened::msg_); }
    };
    return static_cast<sd_bus_message*>(Opened::of(message));
}

/// The message that `object` works on now.
inline decltype(auto) message_of(const sdbus::IObject& object) {
#if CGPU_SDBUS_MAJOR == 2
    return object.getCurrentlyProcessedMessage();
#else
    return static_cast<const sdbus::Message&>(*object.getCurrentlyProcessedMessage());
#endif
}

/// Whoever sent the message that `object` works on now; the bus's word, never the message's. `uids`: user ids
/// by connection, of earlier calls; the bus is asked for one that isn't among them. Throws sdbus::Error where
/// the bus can't say any more, because the caller is gone.
inline Caller caller_of(const sdbus::IObject& object, std::map<std::string, uid_t>& uids) {
    const auto& message = message_of(object);
    std::string name = message.getSender();
    auto known = uids.find(name);
    if (known == uids.end()) known = uids.emplace(name, message.getCredsEuid()).first;
    return {known->second, std::move(name),
            sd_bus_message_get_allow_interactive_authorization(sd_message(message)) > 0};
}

/// A call that is not sent.
inline sdbus::MethodCall some_call(sdbus::IProxy& proxy) {
    constexpr const char* kInterface = "org.freedesktop.DBus.Peer";
#if CGPU_SDBUS_MAJOR == 2
    struct Opened : sdbus::IProxy {
        static sdbus::MethodCall of(const sdbus::IProxy& closed) {
            using Make = sdbus::MethodCall (sdbus::IProxy::*)(const char*, const char*) const;
            return (closed.*static_cast<Make>(&Opened::createMethodCall))(kInterface, "Ping");
        }
    };
    return Opened::of(proxy);
#else
    return proxy.createMethodCall(kInterface, "Ping");
#endif
}

/// sd-bus's own connection below the one of `proxy`; lives as long as that.
inline sd_bus* bus_of(sdbus::IProxy& proxy) {
    const auto message = some_call(proxy);
    return sd_bus_message_get_bus(sd_message(message));
}

/// Calls on this connection say from now on that the caller may be asked for a password. `proxy`: any on it.
inline void allow_interaction(sdbus::IProxy& proxy) {
    sd_bus_set_allow_interactive_authorization(bus_of(proxy), 1);
}

}  // namespace cgpu::compat
