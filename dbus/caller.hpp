#pragma once

#include <memory>
#include <string>

#include <sdbus-c++/sdbus-c++.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "dbus/compat.hpp"

/// What sdbus-c++ doesn't say of messages, in none of its versions: whether a caller may be asked for a
/// password. sd-bus, below it, does, and answers for user id and pid at once.
namespace cgpu::compat {

/// Whoever sent a message, as the bus saw it when it connected.
struct Caller {
    uid_t uid = 0;             ///< effective
    std::string name;          ///< of its connection: `:1.42`
    bool interactive = false;  ///< it may be asked for a password
    pid_t pid = 0;             ///< 0: the bus doesn't know it
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

/// Who made a connection.
struct Credentials {
    uid_t uid = 0;
    pid_t pid = 0;
};

/// By one question to the bus. Throws sdbus::Error where the bus can't say any more.
inline Credentials credentials_of(const sdbus::Message& message) {
    sd_bus_creds* credentials = nullptr;
    int result =
        sd_bus_query_sender_creds(sd_message(message), SD_BUS_CREDS_EUID | SD_BUS_CREDS_PID, &credentials);
    const std::unique_ptr<sd_bus_creds, decltype(&sd_bus_creds_unref)> owner(credentials,
                                                                             &sd_bus_creds_unref);
    Credentials found;
    if (result >= 0) result = sd_bus_creds_get_euid(credentials, &found.uid);
    if (result < 0) throw sdbus::createError(-result, "the bus doesn't know the caller");
    if (sd_bus_creds_get_pid(credentials, &found.pid) < 0) found.pid = 0;
    return found;
}

/// Whoever sent `message`; `credentials`: those of its connection.
inline Caller caller_from(const sdbus::Message& message, const Credentials& credentials) {
    return {credentials.uid, message.getSender(),
            sd_bus_message_get_allow_interactive_authorization(sd_message(message)) > 0, credentials.pid};
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
