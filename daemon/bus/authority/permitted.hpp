#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "daemon/app/ports/log.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/message/errors.hpp"

namespace cgpu::bus {

/// Answers a method call that only who is authorized may make: once the authority has said yes, with what
/// `body` returns (nothing, a value, or a tuple of several), with its error, or with the refusal. That may be
/// after the object of the method is gone, so `body` must hold nothing of it; what outlives the Authority it
/// may refer to. `object`: the one that works on the call now.
template <class Body, class... Out>
void when_permitted(Authority& authority, Action action, const sdbus::IObject& object, const char* method,
                    sdbus::Result<Out...>&& result, Body body) {
    const auto caller = guarded(method, [&] { return compat::caller_of(object); });
    const auto reply = std::make_shared<sdbus::Result<Out...>>(std::move(result));
    authority.ask(action, caller, [reply, method, body](const app::Result<void>& permitted) {
        // Nothing may leave this: what calls it is the bus's loop.
        try {
            try {
                take(permitted);
                if constexpr (sizeof...(Out) == 0) {
                    guarded(method, body);
                    reply->returnResults();
                } else if constexpr (sizeof...(Out) == 1) {
                    reply->returnResults(guarded(method, body));
                } else {
                    std::apply([&](const auto&... values) { reply->returnResults(values...); },
                               guarded(method, body));
                }
            } catch (const sdbus::Error& error) {
                reply->returnError(error);
            }
        } catch (const std::exception& error) {
            log::warn("{}: its caller can't be answered: {}", method, error.what());
        }
    });
}

}  // namespace cgpu::bus
