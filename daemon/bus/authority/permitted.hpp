#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "daemon/app/events/event.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/message/errors.hpp"

namespace cgpu::bus {

/// The call that is answered.
struct MethodCall {
    const char* method;
    /// A dry run that is refused isn't told of; one that isn't permitted is.
    bool dry_run = false;
    /// Somebody else tells of its refusals.
    bool told_otherwise = false;
    /// A part of it that needs more than the call without it: named by a refusal.
    struct Part {
        const char* what;
        const char* instead;  ///< how to do without, a remedy
    };
    std::optional<Part> part = std::nullopt;
};

/// Calls `body`, with the caller if it takes one.
template <class Body>
decltype(auto) call_for(const app::Who& who, const Body& body) {
    if constexpr (std::is_invocable_v<const Body&, const app::Who&>)
        return body(who);
    else
        return body();
}

/// Answers a method call that needs authorization: after the authority has agreed, with the result of `body`
/// (nothing, a value, or a tuple of several) or its error; otherwise with the refusal. `body` takes the
/// caller (app::Who) if it changes what events tell of. The method's object may no longer exist then, so
/// `body` must not refer to it; it may refer to objects that outlive the Authority. `object`: the object that
/// handles the call now.
template <class Body, class... Out>
void when_permitted(Authority& authority, const std::vector<Action>& actions, const sdbus::IObject& object,
                    const MethodCall& call, sdbus::Result<Out...>&& result, Body body) {
    const auto caller = guarded(call.method, [&] { return authority.caller_of(object); });
    const auto reply = std::make_shared<sdbus::Result<Out...>>(std::move(result));
    const auto answer = [&authority, reply, call, body, caller,
                         path = std::string(object.getObjectPath())](const app::Result<void>& permitted) {
        const app::Who who{caller.uid, caller.pid};
        // No exception may leave this function: the bus's loop calls it.
        try {
            try {
                take(call.part ? Authority::about(call.part->what, call.part->instead, permitted)
                               : permitted);
                if constexpr (sizeof...(Out) == 0) {
                    guarded(call.method, [&] { call_for(who, body); });
                    reply->returnResults();
                } else if constexpr (sizeof...(Out) == 1) {
                    reply->returnResults(guarded(call.method, [&] { return call_for(who, body); }));
                } else {
                    std::apply([&](const auto&... values) { reply->returnResults(values...); },
                               guarded(call.method, [&] { return call_for(who, body); }));
                }
            } catch (const sdbus::Error& error) {
                reply->returnError(error);
                const auto reason = reason_of(error.getName());
                if (reason && (!permitted || (!call.dry_run && !call.told_otherwise)))
                    authority.refused({call.method, path, caller, {*reason, error.getMessage()}});
            }
        } catch (const std::exception& error) {
            log::warn("{}: its caller can't be answered: {}", call.method, error.what());
        }
    };
    authority.ask_for_all(actions, caller, answer);
}

/// The same for one action.
template <class Body, class... Out>
void when_permitted(Authority& authority, Action action, const sdbus::IObject& object, const MethodCall& call,
                    sdbus::Result<Out...>&& result, Body body) {
    when_permitted(authority, std::vector{action}, object, call, std::move(result), std::move(body));
}

}  // namespace cgpu::bus
