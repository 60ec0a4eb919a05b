#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <sdbus-c++/sdbus-c++.h>
#include <sys/types.h>

#if __has_include(<sdbus-c++/VTableItems.h>)
#define CGPU_SDBUS_MAJOR 2
#else
#define CGPU_SDBUS_MAJOR 1
#endif

/// The few places where sdbus-c++ 1.2 (Debian 12) and 2.1 (Debian 13) differ for us. Everything else is
/// written so that both take it.
namespace cgpu::compat {

/// The effective user and the process of whoever sent a message, as the bus saw them when it connected.
struct Credentials {
    uid_t uid = 0;
    pid_t pid = 0;
};

#if CGPU_SDBUS_MAJOR == 2

using sdbus::PropertyName;
using sdbus::ServiceName;

inline sdbus::Error make_error(std::string name, std::string text) {
    return sdbus::Error(sdbus::Error::Name(std::move(name)), std::move(text));
}

inline bool process_one(sdbus::IConnection& connection) { return connection.processPendingEvent(); }

/// Absolute, on CLOCK_MONOTONIC; max: none.
inline std::chrono::microseconds deadline(const sdbus::IConnection::PollData& data) { return data.timeout; }

inline Credentials caller_of(const sdbus::IObject& object) {
    const sdbus::Message message = object.getCurrentlyProcessedMessage();
    return {message.getCredsEuid(), message.getCredsPid()};
}

#else

using PropertyName = std::string;
using ServiceName = std::string;

inline sdbus::Error make_error(std::string name, std::string text) { return {name, text}; }

inline bool process_one(sdbus::IConnection& connection) { return connection.processPendingRequest(); }

/// Absolute, on CLOCK_MONOTONIC; max: none.
inline std::chrono::microseconds deadline(const sdbus::IConnection::PollData& data) {
    constexpr auto kNone = static_cast<std::uint64_t>(std::chrono::microseconds::max().count());
    return std::chrono::microseconds(
        static_cast<std::int64_t>(data.timeout_usec < kNone ? data.timeout_usec : kNone));
}

inline Credentials caller_of(const sdbus::IObject& object) {
    const sdbus::Message* message = object.getCurrentlyProcessedMessage();
    return {message->getCredsEuid(), message->getCredsPid()};
}

#endif

}  // namespace cgpu::compat
