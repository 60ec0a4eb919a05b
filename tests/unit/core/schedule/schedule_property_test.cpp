// Whatever the readings claim, the slicer keeps its guarantees.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <random>

#include "core/schedule/slicer.hpp"
#include "tests/unit/core/schedule/machine/schedule_world.hpp"
#include "tests/unit/core/schedule/schedule_scale.hpp"

namespace cgpu::schedule {
namespace {

using cgpu::model::Policy;

// One event, followed by a step.
struct Move {
    int what = 0;  // 0..8: below, more: a reading changes
    std::size_t slot = 0;
    int number = 0;
    Reading reading;
    GangState elsewhere;
    Nanos dt = 0;
    bool at_wake = false;  // not after dt, but when the last step asked for it
};

void showValue(const Move& m, std::ostream& out) {
    out << "{" << m.what << " slot " << m.slot << " number " << m.number << " wants " << m.reading.wants
        << " used " << m.reading.used << " in flight " << m.reading.in_flight_estimate << " remaining "
        << m.reading.remaining << " dt " << m.dt << (m.at_wake ? " at wake" : "") << "}";
}

rc::Gen<Nanos> any_nanos() {
    return rc::gen::oneOf(
        rc::gen::arbitrary<Nanos>(), rc::gen::inRange<Nanos>(0, 100 * kMilli),
        rc::gen::element<Nanos>(0, -1, std::numeric_limits<Nanos>::max(), std::numeric_limits<Nanos>::min()));
}

rc::Gen<Reading> any_reading() {
    return rc::gen::build<Reading>(
        rc::gen::set(&Reading::wants), rc::gen::set(&Reading::used, any_nanos()),
        rc::gen::set(&Reading::in_flight_estimate, any_nanos()),
        rc::gen::set(&Reading::remaining, any_nanos()), rc::gen::set(&Reading::syncing),
        rc::gen::set(&Reading::usual_gap, any_nanos()), rc::gen::set(&Reading::unmeasured),
        rc::gen::set(&Reading::alone_process), rc::gen::set(&Reading::stale));
}

rc::Gen<GangState> any_elsewhere() {
    return rc::gen::build<GangState>(
        rc::gen::set(&GangState::lead, rc::gen::element(Lead::none, Lead::held, Lead::called, Lead::leaving)),
        rc::gen::set(&GangState::busy), rc::gen::set(&GangState::waits_across_gpus),
        rc::gen::set(&GangState::wants), rc::gen::set(&GangState::stuck));
}

rc::Gen<Move> any_move() {
    return rc::gen::build<Move>(
        rc::gen::set(&Move::what, rc::gen::inRange(0, 20)),
        rc::gen::set(&Move::slot, rc::gen::oneOf(rc::gen::inRange<std::size_t>(0, 3),
                                                 rc::gen::inRange<std::size_t>(0, kSlots))),
        rc::gen::set(&Move::number, rc::gen::inRange(-2, 30)), rc::gen::set(&Move::reading, any_reading()),
        rc::gen::set(&Move::elsewhere, any_elsewhere()),
        rc::gen::set(&Move::dt, rc::gen::oneOf(rc::gen::inRange<Nanos>(-kMilli, 10 * kMilli),
                                               rc::gen::element<Nanos>(0, kSecond, 3'600'000 * kSecond))),
        rc::gen::set(&Move::at_wake));
}

struct Books {
    std::array<bool, kSlots> present{};
    std::array<int, kSlots> weight{};
    Policy policy = Policy::preemptive;
};

void apply(Slicer& slicer, Books& books, Readings& readings, GangStates& gangs, const Move& m) {
    switch (m.what) {
        case 0:
            slicer.join(m.slot, m.number, m.number % 3 == 0, m.dt % 2 == 0 ? Ask::weight : Ask::percentage);
            books.present[m.slot] = true;
            books.weight[m.slot] = std::max(0, m.number);
            return;
        case 1:
            slicer.leave(m.slot);
            books.present[m.slot] = false;
            return;
        case 2:
            slicer.set_weight(m.slot, m.number, m.dt % 2 == 0 ? Ask::weight : Ask::percentage);
            books.weight[m.slot] = std::max(0, m.number);
            return;
        case 3:
            slicer.set_high_priority(m.slot, m.number % 2 == 0);
            return;
        case 4:
            books.policy = static_cast<Policy>((m.number + 2) % 7);
            slicer.set_policy(books.policy);
            return;
        case 5:
            slicer.set_max_inst(m.number);
            return;
        case 6:
            slicer.set_prio_ratio(m.number * 4);
            return;
        case 7:
        case 8:
            gangs[m.slot] = m.elsewhere;
            return;
        default:
            readings[m.slot] = m.reading;
            return;
    }
}

void check(const Decision& d, const Books& books, const Readings& readings, const GangStates& gangs,
           const Slicer& slicer, Nanos now) {
    int open = 0;
    for (std::size_t i = 0; i < kSlots; ++i) {
        const GateOrder& g = d.gates[i];
        if (books.policy == Policy::native) {
            RC_ASSERT(g.state == GateOrder::State::free);
            continue;
        }
        RC_ASSERT(g.state != GateOrder::State::free);
        if (g.state == GateOrder::State::closed) continue;
        // Besides the holder, an instance may run that fills the holder's pauses or has a launch let through
        // for stuck work: bounded, and known to overlap.
        if (slicer.holder() != i) RC_ASSERT(g.overlap && g.limit != kForever);
        const bool may_be_stuck = gangs[i].stuck || readings[i].in_flight_estimate > 0;
        open += slicer.holder() == i || !may_be_stuck ? 1 : 0;
        RC_ASSERT(books.present[i]);
        RC_ASSERT(books.weight[i] > 0);
        RC_ASSERT(g.limit > 0);
        const bool ganged = gangs[i].waits_across_gpus || slicer.tell(i).waits_across_gpus;
        RC_ASSERT(g.contended || g.limit == kForever);
        RC_ASSERT(!g.contended || ganged || g.limit != kForever);
        const auto share = slicer.target_share(i);
        RC_ASSERT(share && *share >= 0 && *share <= 1);
    }
    // Nobody is held for one whose reports are doubted.
    const bool doubted = slicer.holder() && slicer.doubted(*slicer.holder());
    if (!doubted) RC_ASSERT(open <= (books.policy == Policy::soft ? 2 : 1));
    RC_ASSERT(d.wake_at >= now + StepTuning().shortest_wait);
}

RC_GTEST_PROP(Slicer, KeepsItsPromisesWhateverTheReadings, ()) {
    const auto moves = *rc::gen::container<std::vector<Move>>(any_move());
    Slicer slicer{Settings{}};
    Slicer twin{Settings{}};
    Books books, twin_books;
    Readings readings, twin_readings;
    GangStates gangs{}, twin_gangs{};
    Nanos now = 0, wake = kForever, most_now = std::numeric_limits<Nanos>::min();
    for (std::size_t i = 0; i < 3; ++i) {
        slicer.join(i, 1, false);
        twin.join(i, 1, false);
        books.present[i] = true;
        books.weight[i] = 1;
    }
    for (const Move& m : moves) {
        apply(slicer, books, readings, gangs, m);
        apply(twin, twin_books, twin_readings, twin_gangs, m);
        now = m.at_wake && wake != kForever ? wake : now + m.dt;
        most_now = std::max(most_now, now);
        const Decision d = slicer.step(now, readings, gangs);
        check(d, books, readings, gangs, slicer, most_now);
        const Decision same = twin.step(now, twin_readings, twin_gangs);
        RC_ASSERT(same.wake_at == d.wake_at);
        for (std::size_t i = 0; i < kSlots; ++i) RC_ASSERT(same.gates[i].limit == d.gates[i].limit);
        wake = d.wake_at;
    }
}

// One honest instance among up to nine that claim anything. Its work takes as long as its gate is open.
RC_GTEST_PROP(Slicer, LiarsStarveNobody, ()) {
    const auto policy = *rc::gen::element(Policy::fair_share, Policy::preemptive, Policy::weighted,
                                          Policy::fixed, Policy::soft, Policy::proportional);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const int weight = *rc::gen::inRange(1, 11);
    const auto liars = *rc::gen::inRange<std::size_t>(1, 10);
    const auto lies = *rc::gen::container<std::vector<Reading>>(8, any_reading());
    const auto gang_lies = *rc::gen::container<std::vector<GangState>>(8, any_elsewhere());
    Settings settings;
    settings.policy = policy;
    Slicer slicer(settings);
    std::mt19937_64 random(seed);
    slicer.join(0, weight, false);
    for (std::size_t i = 1; i <= liars; ++i) slicer.join(i, 1, i == 1 && seed % 2 == 0);
    Readings readings;
    GangStates gangs{};
    readings[0].wants = true;
    Nanos now = 0, open_since_last = 0, longest = 0, opened = 0;
    bool open = false;
    const Nanos end = 60 * kSecond * sim::test_scale();
    while (now < end) {
        for (std::size_t i = 1; i <= liars; ++i) {
            if (random() % 4 == 0) readings[i] = lies[random() % lies.size()];
            if (random() % 2 == 0) readings[i].wants = true;
            if (random() % 4 == 0) gangs[i] = gang_lies[random() % gang_lies.size()];
        }
        const Decision d = slicer.step(now, readings, gangs);
        open = d.gates[0].state == GateOrder::State::open;
        if (open) open_since_last = now;
        longest = std::max(longest, now - open_since_last);
        const Nanos doorbell = now + static_cast<Nanos>(random() % 5'000'000) + 20 * kMicro;
        const Nanos next = std::min(d.wake_at, doorbell);
        if (open) readings[0].used += next - now;
        if (open) opened += next - now;
        readings[0].wants = !open;
        readings[0].in_flight_estimate = readings[0].remaining = open ? 100 * kMicro : 0;
        now = next;
    }
    // A debt of one period and a turn is repaid while all others have the longest drain each; high priority
    // may double that.
    RC_ASSERT(longest < 20 * kSecond);
    const double due = slicer.target_share(0).value();
    RC_ASSERT(static_cast<double>(opened) / static_cast<double>(end) > due / 4);
}

RC_GTEST_PROP(Slicer, RandomWorkloadsGetTheirShares, ()) {
    const auto policy =
        *rc::gen::element(Policy::preemptive, Policy::weighted, Policy::fixed, Policy::proportional);
    const auto tenants = *rc::gen::inRange<std::size_t>(2, 6);
    Settings settings;
    settings.policy = policy;
    const bool noisy = *rc::gen::arbitrary<bool>();
    sim::World world(settings, noisy ? sim::kNoisy : sim::kQuiet);
    std::vector<int> weights;
    int sum = 0;
    for (std::size_t i = 0; i < tenants; ++i) {
        sim::Tenant tenant;
        tenant.work.kernels = *rc::gen::container<std::vector<Nanos>>(
            *rc::gen::inRange<std::size_t>(1, 5), rc::gen::inRange<Nanos>(5 * kMicro, 20 * kMilli));
        tenant.work.jitter = 0.2;
        tenant.weight = *rc::gen::inRange(1, 5);
        weights.push_back(tenant.weight);
        sum += tenant.weight;
        world.add(tenant);
    }
    world.run_for(10 * kSecond * sim::test_scale());
    for (std::size_t i = 0; i < tenants; ++i) {
        double due = 1.0 / static_cast<double>(tenants);
        if (policy == Policy::weighted || policy == Policy::proportional)
            due = static_cast<double>(weights[i]) / sum;
        if (policy == Policy::fixed) due = weights[i] / 20.0;
        const double got = world.share(i) / (policy == Policy::fixed ? 1.0 : world.busy());
        RC_ASSERT(std::abs(got - due) < 0.02);
    }
    // The worst case is kernels of about 2 ms with varying durations. Predictions are less accurate than is
    // trusted, so each turn of 5 ms is drained, and the next gate is seen open 50 µs after the drain (150 µs
    // on the noisy host).
    if (policy != Policy::fixed) RC_ASSERT(world.busy() > (noisy ? 0.94 : 0.96));
}

// Each of them on two GPUs at once, with other kernels on each: that alone doesn't gang any of them.
RC_GTEST_PROP(Slicer, RandomWorkloadsOnTwoGpusGetTheirShares, ()) {
    const auto tenants = *rc::gen::inRange<std::size_t>(2, 5);
    Settings settings;
    settings.policy = *rc::gen::element(Policy::preemptive, Policy::weighted, Policy::proportional);
    sim::World world(settings, *rc::gen::arbitrary<bool>() ? sim::kNoisy : sim::kQuiet, 2);
    for (std::size_t i = 0; i < tenants; ++i) {
        for (const std::size_t gpu : {0U, 1U}) {
            sim::Tenant tenant;
            tenant.work.kernels = *rc::gen::container<std::vector<Nanos>>(
                *rc::gen::inRange<std::size_t>(1, 5), rc::gen::inRange<Nanos>(5 * kMicro, 20 * kMilli));
            tenant.work.jitter = 0.2;
            tenant.job = static_cast<int>(i);
            world.add(tenant, gpu);
        }
    }
    world.run_for(10 * kSecond * sim::test_scale());
    for (const std::size_t gpu : {0U, 1U}) {
        for (std::size_t i = 0; i < tenants; ++i) {
            const double got = world.share(i, gpu) / world.busy(gpu);
            RC_ASSERT(std::abs(got - 1.0 / static_cast<double>(tenants)) < 0.02);
        }
        RC_ASSERT(world.busy(gpu) > 0.93);
    }
}

}  // namespace
}  // namespace cgpu::schedule
