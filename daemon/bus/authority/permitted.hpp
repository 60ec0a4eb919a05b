#pragma once

#include <functional>
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

/// A call that is answered once: by what `body` returns or throws, at once or after a second look at the
/// GPUs.
template <class Body, class... Out>
class PermittedCall : public std::enable_shared_from_this<PermittedCall<Body, Out...>> {
  public:
    PermittedCall(Authority& authority, const MethodCall& call, std::string path,
                  const compat::Caller& caller, sdbus::Result<Out...>&& reply, Body body)
        : authority_(authority),
          call_(call),
          path_(std::move(path)),
          caller_(caller),
          reply_(std::move(reply)),
          body_(std::move(body)) {}

    void answer(const app::Result<void>& permitted) {
        // No exception may leave this function: the bus's loop calls it.
        try {
            try {
                take(call_.part ? Authority::about(call_.part->what, call_.part->instead, permitted)
                                : permitted);
                carry_out();
            } catch (const sdbus::Error& error) {
                const auto reason = reason_of(error.getName());
                if (permitted && reason &&
                    authority_.tries_again({*reason, error.getMessage()},
                                           [self = this->shared_from_this()] { self->answer({}); }))
                    return;
                reply_.returnError(error);
                if (reason && (!permitted || (!call_.dry_run && !call_.told_otherwise)))
                    authority_.refused({call_.method, path_, caller_, {*reason, error.getMessage()}});
            }
        } catch (const std::exception& error) {
            log::warn("{}: its caller can't be answered: {}", call_.method, error.what());
        }
    }

    /// It is permitted, and refused before it is carried out.
    void refuse(const model::Refusal& refusal) {
        try {
            const auto error = to_bus_error(refusal);
            reply_.returnError(error);
            if (!call_.told_otherwise && !call_.dry_run)
                authority_.refused({call_.method, path_, caller_, refusal});
        } catch (const std::exception& error) {
            log::warn("{}: its caller can't be answered: {}", call_.method, error.what());
        }
    }

  private:
    void carry_out() {
        const app::Who who{caller_.uid, caller_.pid};
        if constexpr (sizeof...(Out) == 0) {
            guarded(call_.method, [&] { call_for(who, body_); });
            reply_.returnResults();
        } else if constexpr (sizeof...(Out) == 1) {
            reply_.returnResults(guarded(call_.method, [&] { return call_for(who, body_); }));
        } else {
            std::apply([&](const auto&... values) { reply_.returnResults(values...); },
                       guarded(call_.method, [&] { return call_for(who, body_); }));
        }
    }

    Authority& authority_;
    MethodCall call_;
    std::string path_;
    compat::Caller caller_;
    sdbus::Result<Out...> reply_;
    Body body_;
};

/// What must be known before a permitted call is carried out; it calls back, at once or later, from the loop.
using Before = std::function<void(std::function<void(const app::Result<void>&)>)>;

/// Answers a method call that needs authorization: after the authority has agreed, with the result of `body`
/// (nothing, a value, or a tuple of several) or its error; otherwise with the refusal. A refusal that may be
/// out of date is answered after a second look, for which `body` is called again. `body` takes the caller
/// (app::Who) if it changes what events tell of. The method's object may no longer exist then, so `body` must
/// not refer to it; it may refer to objects that outlive the Authority. `object`: the object that handles the
/// call now. `changed`: the path of the object that a refusal is told of; empty: that one. `before`: what
/// comes between; if it refuses, so is the call.
template <class Body, class... Out>
void when_permitted(Authority& authority, const std::vector<Action>& actions, const sdbus::IObject& object,
                    const MethodCall& call, sdbus::Result<Out...>&& result, Body body,
                    const std::string& changed = {}, const Before& before = {}) {
    const auto caller = guarded(call.method, [&] { return authority.caller_of(object); });
    const auto answered = std::make_shared<PermittedCall<Body, Out...>>(
        authority, call, changed.empty() ? std::string(object.getObjectPath()) : changed, caller,
        std::move(result), std::move(body));
    authority.ask_for_all(
        actions, caller, [&authority, answered, before](const app::Result<void>& permitted) {
            if (!permitted || !before) return answered->answer(permitted);
            before([&authority, answered](const app::Result<void>& known) {
                authority.answer_late(
                    [&] { known ? answered->answer({}) : answered->refuse(known.error()); });
            });
        });
}

/// The same for one action.
template <class Body, class... Out>
void when_permitted(Authority& authority, Action action, const sdbus::IObject& object, const MethodCall& call,
                    sdbus::Result<Out...>&& result, Body body) {
    when_permitted(authority, std::vector{action}, object, call, std::move(result), std::move(body));
}

}  // namespace cgpu::bus
