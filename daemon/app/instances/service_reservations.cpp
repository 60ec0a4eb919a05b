#include <algorithm>
#include <utility>

#include "core/admission/seat.hpp"
#include "core/model/duration.hpp"
#include "core/request/reservation_variable.hpp"
#include "core/request/variables.hpp"
#include "daemon/app/instances/base/service_events.hpp"
#include "daemon/app/instances/service.hpp"

/// Parts that are held for instances to come.
namespace cgpu::app {

using model::Refusal;

namespace {

constexpr const char* kWhat = "CGPU_RESERVATION";

/// What the reservation was asked for with is the most that it gives. A rule that has become stricter since
/// holds for those who ask for nothing themselves.
Result<void> keep_within(const char* name, std::optional<std::uint64_t>& asked,
                         const std::optional<std::uint64_t>& most,
                         const std::optional<limits::Part<std::uint64_t>>& rule) {
    if (asked && most && *asked > *most)
        return model::refuse(Refusal::Reason::invalid,
                             std::string(name) + "=" + model::format_duration(*asked) + " with " + kWhat,
                             "the reservation is for " + model::format_duration(*most) + " at most",
                             "leave " + std::string(name) + " out, or use a shorter time");
    if (!asked && most) asked = rule ? std::min(*most, rule->most) : *most;
    return {};
}

bool is_anybodys(const model::Owner& owner) { return owner == model::Owner(); }

}  // namespace

model::Owner Service::owner_of(const Asked& asked) const {
    const auto request = request::parse_request(asked.variables);
    if (request && *request && !(*request)->reservation.empty())
        if (const auto* held = node().find_reservation((*request)->reservation);
            held != nullptr && !is_anybodys(held->owner))
            return held->owner;
    return owner_of_new(asked.caller, asked.origin,
                        request && *request ? (*request)->owner : request::declared_owner(asked.variables));
}

Result<void> Service::check_hold(const Asked& asked, const limits::Allowance* allowance) const {
    if (!asked.hold) return {};
    if (!request::is_token(asked.hold->token))
        return model::refuse(Refusal::Reason::invalid, "a reservation's token",
                             "it isn't " + std::to_string(request::kTokenLength) + " hexadecimal digits",
                             "cgpuctl reserve, which makes one");
    const auto has_it = [&](const model::Instance& each) {
        return each.reservation && each.reservation->token == asked.hold->token && each.id.str() != asked.id;
    };
    const auto waiting = queue_ ? queue_->instances() : std::vector<const model::Instance*>();
    if (node().find_reservation(asked.hold->token) != nullptr ||
        std::ranges::any_of(waiting, [&](const auto* each) { return has_it(*each); }))
        return model::refuse(Refusal::Reason::exists, "a reservation's token", "another one has it",
                             "use a random one");
    const std::string what = "holding a reservation for " + model::format_duration(asked.hold->seconds);
    if (asked.hold->seconds == 0 || asked.hold->seconds > kLongestHold)
        return model::refuse(Refusal::Reason::invalid, what,
                             "it can be held for 1s to " + model::format_duration(kLongestHold),
                             "use such a time");
    if (allowance != nullptr)
        if (const auto allowed = allowance->check_time(asked.hold->seconds); !allowed)
            return model::refuse(what, allowed.error());
    return {};
}

/// It is a reservation of what was to be an instance.
void Service::hold_for_another(model::Instance& wanted, const Hold& hold) const {
    const auto seconds_of = [](const auto& limit) {
        return limit ? std::optional(limit->seconds) : std::nullopt;
    };
    wanted.reservation =
        model::Reservation{hold.token, seconds_of(wanted.time), seconds_of(wanted.idle), outside_.boot_id};
    wanted.time = limit_of(hold.seconds);
    wanted.idle.reset();
}

Result<Created> Service::take_over(const model::InstanceId& id, const request::Request& request,
                                   const Asked& asked) {
    if (asked.hold)
        return model::refuse(Refusal::Reason::invalid, kWhat, "a reservation isn't made of another one",
                             "leave it out");
    const auto* held = node().find_reservation(request.reservation);
    if (held == nullptr)
        return model::refuse(Refusal::Reason::not_found, kWhat,
                             "there is no such reservation: it was used, or its time is over",
                             "cgpuctl reserve, for a new one");
    if (held->id == id)
        return model::refuse(Refusal::Reason::exists, "instance " + id.short_id(),
                             "it is the reservation itself", "use another id");
    const bool is_own = held->creator == asked.caller.user || held->owner.user == asked.caller.user;
    if (asked.caller.user != 0 && !is_own)
        return model::refuse(Refusal::Reason::not_permitted, kWhat, "another user has made it",
                             "use one of your own (cgpuctl reserve)");
    for (const auto& quota : held->quotas) {
        const auto* gpu = node().find_gpu(quota.gpu);
        if (gpu == nullptr) continue;  // the node says so
        if (const auto open = admission::check_drained(*gpu); !open)
            return model::refuse(std::string(kWhat) + " on " + model::describe(*gpu), open.error());
    }
    const auto owner = owner_of(asked);
    const auto allowance = allowance_of(owner);
    if (!allowance) return tl::unexpected(allowance.error());
    // One that nobody was known to own counted for the containers that nobody owns.
    if (*allowance && owner != held->owner)
        if (const auto allowed = (*allowance)->check_instance(held->quotas); !allowed)
            return model::refuse(kWhat, allowed.error());
    const auto* rules = *allowance ? &(*allowance)->rules() : nullptr;
    auto timed = request;
    if (const auto within = keep_within("CGPU_TIME", timed.time, held->reservation->time,
                                        rules != nullptr ? rules->time : std::nullopt);
        !within)
        return tl::unexpected(within.error());
    if (const auto within = keep_within("CGPU_IDLE", timed.idle, held->reservation->idle,
                                        rules != nullptr ? rules->idle : std::nullopt);
        !within)
        return tl::unexpected(within.error());
    const auto idle = idle_of_new(id, asked.name, timed, *allowance ? &**allowance : nullptr);
    if (!idle) return tl::unexpected(idle.error());
    const auto time = time_of_new(id, asked.name, timed, *allowance ? &**allowance : nullptr);
    if (!time) return tl::unexpected(time.error());
    if (const auto asks = check_caller(asked.caller); !asks) return tl::unexpected(asks.error());

    model::Instance wanted{id,
                           asked.name,
                           0,
                           outside_.wall_clock(),
                           held->mode,
                           held->quotas,
                           std::nullopt,
                           asked.caller.user,
                           asked.origin.image};
    wanted.owner = owner;
    wanted.time = *time;
    wanted.idle = *idle;
    std::vector<std::string> warnings;
    if (!request.owner.empty() && owner.declared != request.owner)
        warnings.push_back("CGPU_OWNER=" + request.owner + " has no effect: the reservation is of " +
                           describe(owner) + ". Try: leave it out.");
    const auto before = *held;
    const auto replace = [&before, wanted](model::Node& node) { return node.take_over(before.id, wanted); };
    auto created = bring_in(std::move(wanted), replace, std::move(warnings), asked.caller, asked.options);
    if (created && !asked.options.dry_run)
        lifetimes_.replaced(before, model::describe(before) + ": its part is now that of " +
                                        model::describe(created->instance));
    return created;
}

/// Those of a former boot: how long they are held is counted on its clock.
void Service::drop_old_reservations() {
    std::vector<model::InstanceId> all;
    for (const auto& [id, instance] : node().instances())
        if (instance.reservation && instance.reservation->boot_id != outside_.boot_id) all.push_back(id);
    for (const auto& id : all) lifetimes_.end(id);
}

}  // namespace cgpu::app
