#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

#include "core/queue/could_fit.hpp"
#include "tests/unit/core/queue/queue_world.hpp"
#include "tests/unit/core/support/nodes.hpp"

/// Random nodes and queues in virtual time. QueueWorld throws where a grant is more than the node, or the
/// limits, have left.
namespace cgpu::queue {
namespace {

using namespace cgpu::test;

template <class Number>
Number any(Number from, Number below) {
    return *rc::gen::inRange<Number>(from, below);
}

bool one_in(int n) { return any(0, n) == 0; }

model::Node random_node() {
    std::vector<model::Sighting> gpus;
    const auto count = any<std::uint8_t>(1, 5);
    const bool alike = one_in(2);
    for (std::uint8_t n = 0; n < count; ++n)
        gpus.push_back(gpu(n, alike || one_in(2) ? 16000 : 8000, {.max_inst = one_in(3) ? 4U : 20U}));
    return node(gpus);
}

Waiting random_waiting(std::size_t gpus) {
    Waiting made;
    made.owner.user = any(1000U, 1003U);
    made.request.memory.emplace_back(model::Bytes::from_mib(any<std::uint64_t>(1, 17) * 1000));
    if (one_in(4)) made.request.memory.emplace_back(model::Bytes::from_mib(any<std::uint64_t>(1, 9) * 1000));
    if (one_in(3)) made.request.count = any<std::uint32_t>(1, static_cast<std::uint32_t>(gpus) + 1);
    if (one_in(3)) {
        made.request.gpus = {any(0U, static_cast<std::uint32_t>(gpus))};
        made.request.count = 1;
    }
    if (one_in(4)) made.request.weight = any(1U, 21U);
    if (one_in(6)) made.request.percent = any(1U, 5U) * 25;
    if (made.request.weight) made.request.percent.reset();
    if (one_in(5)) made.request.mode = static_cast<model::Mode>(any(0U, 3U));
    if (one_in(4)) made.priority = any(0, 2);
    if (one_in(2)) made.length = any<Nanos>(1, 60);
    return made;
}

void run_something(QueueWorld& world, bool all_end) {
    const auto gpus = world.node().gpus().size();
    for (int n = any(0, 8); n > 0; --n) {
        auto on =
            quota(static_cast<std::uint8_t>(any<std::size_t>(0, gpus)), any<std::uint64_t>(1, 9) * 1000);
        auto made = instance("i" + std::to_string(n), {on},
                             one_in(6) ? model::Mode::memory : model::Mode::memory_compute);
        made.owner.user = any(1000U, 1003U);
        if (one_in(2))
            world.run(made, any<Nanos>(1, 60));
        else
            world.run(made, std::nullopt, all_end ? std::optional(any<Nanos>(1, 60)) : std::nullopt);
    }
}

/// Random rules; each user may have something of each kind.
limits::Rules random_rules() {
    limits::Rules rules;
    if (one_in(3)) rules.others.instances = any(1U, 4U);
    if (one_in(3)) rules.others.gpus = any(1U, 3U);
    if (one_in(3)) rules.others.memory = model::Bytes::from_mib(any<std::uint64_t>(4, 30) * 1000);
    if (one_in(3)) rules.others.memory_per_gpu = model::Bytes::from_mib(any<std::uint64_t>(4, 16) * 1000);
    if (one_in(3)) rules.others.compute = any(1U, 5U) * 25;
    return rules;
}

bool could_ever_fit(QueueWorld& world, const Waiting& waiting) {
    return could_fit(
               world.node(), waiting, world.defaults,
               [&](const model::Node& node, const model::Owner& owner) {
                   return tl::expected<std::optional<limits::Allowance>, model::Refusal>(limits::Allowance(
                       node, world.rules, {limits::Holder::Kind::user, owner.user.value_or(0), "", {}}));
               })
        .has_value();
}

Bounds random_bounds() {
    Bounds bounds;
    if (one_in(3)) bounds.reservations = any<std::size_t>(0, 4);
    if (one_in(6)) bounds.plans = any<std::size_t>(2, 20);
    return bounds;
}

/// Arrivals, ends, GPUs that are drained and come back: when everything has ended, everybody has started.
RC_GTEST_PROP(QueueProperty, NobodyStarves, ()) {
    QueueWorld world(random_node());
    world.defaults.placement = *rc::gen::element(admission::Placement::binpack, admission::Placement::spread);
    world.rules = random_rules();
    world.bounds = random_bounds();
    run_something(world, true);
    std::size_t asked = 0;
    for (int n = any(1, 40); n > 0; --n) {
        const auto made = random_waiting(world.node().gpus().size());
        if (could_ever_fit(world, made)) {
            world.ask(made, any<Nanos>(1, 60));
            ++asked;
        }
        const auto drained = world.node().gpus().at(any<std::size_t>(0, world.node().gpus().size()));
        if (one_in(8)) RC_ASSERT(world.node().set_drained(drained.uuid, !drained.drained).has_value());
        world.wait_until(world.now() + any<Nanos>(0, 20));
    }
    for (const auto& gpu : std::vector(world.node().gpus()))
        RC_ASSERT(world.node().set_drained(gpu.uuid, false).has_value());
    world.settle();
    while (world.step()) {
    }
    RC_ASSERT(world.queue().empty());
    RC_ASSERT(world.starts().size() == asked);
}

/// While others go on asking, the first starts when it was promised to at the latest; if nothing could be
/// promised, as soon as if it was alone.
RC_GTEST_PROP(QueueProperty, TheFirstWaitsForNobodyBehindIt, ()) {
    QueueWorld world(random_node());
    world.bounds = random_bounds();
    run_something(world, true);
    auto first = random_waiting(world.node().gpus().size());
    first.priority = 9;
    RC_PRE(could_ever_fit(world, first));
    QueueWorld alone = world;
    const auto ticket = world.ask(first, any<Nanos>(1, 60));
    alone.ask(first, Nanos{1});
    alone.settle();
    while (alone.step()) {
    }
    std::optional<Nanos> promised;
    for (int n = any(1, 30); !world.starts().contains(ticket); --n) {
        for (const auto& wait : world.settle().waits) {
            if (wait.ticket != ticket || !wait.at_latest) continue;
            RC_ASSERT((!promised || *wait.at_latest <= *promised));
            promised = wait.at_latest;
        }
        if (n > 0) world.ask(random_waiting(world.node().gpus().size()), any<Nanos>(1, 60));
        if (n > 0 && one_in(2))
            world.wait_until(world.now() + 1);
        else
            RC_ASSERT((world.step() || n > 0));
    }
    RC_ASSERT(world.starts().at(ticket) <= promised.value_or(alone.starts().at(ticket)));
}

/// The queue as it is, without one of those who wait.
QueueWorld without(const QueueWorld& world, Ticket ticket) {
    QueueWorld other = world;
    other.queue().remove(ticket);
    return other;
}

std::map<Ticket, Nanos> starts_of(QueueWorld world) {
    world.settle();
    while (world.step()) {
    }
    return world.starts();
}

Nanos start_in(const std::map<Ticket, Nanos>& starts, Ticket ticket) {
    const auto found = starts.find(ticket);
    return found == starts.end() ? kNever : found->second;
}

/// For each of those who start and pass somebody: everybody before it starts as early as without it.
void check_passing(const QueueWorld& world) {
    const Order order = in_order(world.const_queue());
    const auto decision = world.next();
    const auto with = starts_of(world);
    for (const auto& [passer, grant] : decision.starts) {
        std::vector<Ticket> before;
        for (const auto* each : order) {
            if (each->ticket == passer) break;
            before.push_back(each->ticket);
        }
        if (before.empty()) continue;
        const auto starts = starts_of(without(world, passer));
        for (const Ticket ticket : before) {
            RC_LOG() << "passer " << passer << ", before it " << ticket << ": " << start_in(with, ticket)
                     << " with it, " << start_in(starts, ticket) << " without" << std::endl;
            RC_ASSERT(start_in(with, ticket) <= start_in(starts, ticket));
        }
    }
}

/// Everything that has a time limit runs until then, and what has none never ends.
RC_GTEST_PROP(QueueProperty, NobodyIsPassedWithoutAProof, ()) {
    QueueWorld world(random_node());
    if (one_in(3)) world.bounds.reservations = any<std::size_t>(0, 4);
    world.defaults.placement = *rc::gen::element(admission::Placement::binpack, admission::Placement::spread);
    run_something(world, false);
    for (int n = any(1, 12); n > 0; --n) world.ask(random_waiting(world.node().gpus().size()));
    check_passing(world);
}

/// The same where nobody has a time limit, and everything ends at some moment.
RC_GTEST_PROP(QueueProperty, NobodyIsPassedWhereNoEndIsKnown, ()) {
    QueueWorld world(random_node());
    const auto gpus = world.node().gpus().size();
    for (int n = any(1, 8); n > 0; --n) {
        auto on =
            quota(static_cast<std::uint8_t>(any<std::size_t>(0, gpus)), any<std::uint64_t>(1, 9) * 1000);
        world.run(instance("i" + std::to_string(n), {on}), std::nullopt, any<Nanos>(1, 60));
    }
    for (int n = any(1, 12); n > 0; --n) {
        auto made = random_waiting(gpus);
        made.length.reset();
        world.ask(made, any<Nanos>(1, 60));
    }
    check_passing(world);
}

/// Where nobody has a place, only what others have closed counts, and that holds whatever ends when.
RC_GTEST_PROP(QueueProperty, WhatIsClosedHoldsWhateverEndsWhen, ()) {
    QueueWorld world(random_node());
    world.bounds.reservations = 0;
    run_something(world, true);
    for (int n = any(1, 12); n > 0; --n)
        world.ask(random_waiting(world.node().gpus().size()), any<Nanos>(1, 60));
    check_passing(world);
}

/// Whoever starts first gets what admission grants on the very node.
RC_GTEST_PROP(QueueProperty, TheFirstGrantIsAdmissions, ()) {
    QueueWorld world(random_node());
    world.defaults.placement = *rc::gen::element(admission::Placement::binpack, admission::Placement::spread);
    run_something(world, false);
    const auto made = random_waiting(world.node().gpus().size());
    world.ask(made);
    const auto decision = world.next();
    const auto grant = admission::admit(world.node(), made.request, world.defaults);
    RC_ASSERT(decision.starts.size() == (grant ? 1U : 0U));
    if (grant) RC_ASSERT(decision.starts.front().grant.quotas == grant->quotas);
    if (grant) RC_ASSERT(decision.starts.front().grant.mode == grant->mode);
}

/// Every one is in the decision once, and nobody who waits could start if nobody else waited before it.
RC_GTEST_PROP(QueueProperty, EverybodyIsAnswered, ()) {
    QueueWorld world(random_node());
    run_something(world, false);
    for (int n = any(1, 12); n > 0; --n) world.ask(random_waiting(world.node().gpus().size()));
    const Order order = in_order(world.const_queue());
    const auto decision = world.next();
    RC_ASSERT(decision.starts.size() + decision.waits.size() == order.size());
    for (const auto& wait : decision.waits) {
        RC_ASSERT(position_of(order, wait.ticket) == wait.position);
        RC_ASSERT((wait.lacks != nullptr) == (wait.why == Why::room));
        RC_ASSERT(wait.limit.has_value() == (wait.why == Why::limits));
        RC_ASSERT((!wait.at_latest || *wait.at_latest > world.now()));
    }
}

}  // namespace
}  // namespace cgpu::queue
