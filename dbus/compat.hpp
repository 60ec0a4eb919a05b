#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <sdbus-c++/sdbus-c++.h>

#if __has_include(<sdbus-c++/VTableItems.h>)
#define CGPU_SDBUS_MAJOR 2
#else
#define CGPU_SDBUS_MAJOR 1
#endif

/// The few places where sdbus-c++ 1.2 (Debian 12) and 2.1 (Debian 13) differ for us. Everything else is
/// written so that both take it.
namespace cgpu::compat {

#if CGPU_SDBUS_MAJOR == 2

using sdbus::PropertyName;
using sdbus::ServiceName;
/// The first argument of what is called with the reply to an asynchronous call; empty where it is a good one.
using MaybeError = std::optional<sdbus::Error>;

inline sdbus::Error make_error(std::string name, std::string text) {
    return sdbus::Error(sdbus::Error::Name(std::move(name)), std::move(text));
}

inline bool process_one(sdbus::IConnection& connection) { return connection.processPendingEvent(); }

/// To be called when a proxy has all its handlers of signals.
inline void finish_registration(sdbus::IProxy&) {}

/// Absolute, on CLOCK_MONOTONIC; max: none.
inline std::chrono::microseconds deadline(const sdbus::IConnection::PollData& data) { return data.timeout; }

#else

using PropertyName = std::string;
using ServiceName = std::string;
using MaybeError = const sdbus::Error*;

inline sdbus::Error make_error(std::string name, std::string text) { return {name, text}; }

inline bool process_one(sdbus::IConnection& connection) { return connection.processPendingRequest(); }

/// To be called when a proxy has all its handlers of signals.
inline void finish_registration(sdbus::IProxy& proxy) { proxy.finishRegistration(); }

/// Absolute, on CLOCK_MONOTONIC; max: none.
inline std::chrono::microseconds deadline(const sdbus::IConnection::PollData& data) {
    constexpr auto kNone = static_cast<std::uint64_t>(std::chrono::microseconds::max().count());
    return std::chrono::microseconds(
        static_cast<std::int64_t>(data.timeout_usec < kNone ? data.timeout_usec : kNone));
}

#endif

}  // namespace cgpu::compat
