// Random work on three engines at once: one that stays, one that is sometimes handed over to another of its
// kind, and one that changes between this version and a next one with another layout. Their answers and
// reports must always be the same.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "tests/unit/module/engine/support/exchanged_engine.hpp"

namespace cgpu::module::test {
namespace {

class Trial {
  public:
    void step() {
        now_ += *rc::gen::inRange<std::int64_t>(0, 400'000);
        switch (*rc::gen::inRange(0, 19)) {
            case 0:
                return each(
                    [&, bytes = *some_bytes()](auto& t, auto* e) { return t.lease(e, gpu_, bytes), 0; });
            case 1:
                return reserve();
            case 2:
            case 3:
                return settle();
            case 4:
                return each([&, kind = *a_kind(), key = *a_key()](auto& t, auto* e) {
                    return t.release(e, kind, key);
                });
            case 5:
                return each([&, key = *a_key(), bytes = *some_bytes()](auto& t, auto* e) {
                    return t.resize(e, gpu_, Holding::pool, key, bytes, 0);
                });
            case 6:
                return each([&, kind = *a_kind(), key = *a_key(), context = *a_context()](auto& t, auto* e) {
                    return t.note_context(e, kind, key, context), 0;
                });
            case 7:
                if (*rc::gen::inRange(0, 6) != 0) return;
                return each([&, context = *a_context()](auto& t, auto* e) {
                    return t.release_context(e, context), 0;
                });
            case 8:
                return each([&, begins = *rc::gen::inRange(0u, 2u)](auto& t, auto* e) {
                    return t.freeing(e, begins), 0;
                });
            case 9:
                return each(
                    [&, bytes = *some_bytes()](auto& t, auto* e) { return t.spare(e, gpu_, bytes, 0); });
            case 10:
            case 11:
                return request_time();
            case 12:
                return close();
            case 13:
                return reap();
            case 14:
                return each([&, begins = *rc::gen::inRange(0, 2)](auto& t, auto* e) {
                    return (begins != 0 ? t.sync_begin : t.sync_end)(e, gpu_, now_), 0;
                });
            case 15:
                return turn_gate();
            case 16:
            case 17:
                return wait();
            case 18:
                return launch_slowly();
        }
    }

    void hand_over() {
        if (*rc::gen::inRange(0, 10) == 0) same_.go_over_to(present());
        if (*rc::gen::inRange(0, 10) == 0)
            other_.go_over_to(&other_.table() == &present() ? next_version() : present());
    }

    void compare() {
        // Not every call writes the report, but one that is bound to its pages does: this one changes
        // nothing.
        each([&](auto& t, auto* e) { return t.return_time(e, gpu_, 0, 0, 0), 0; });
        for (const wire::Reports* reports : {&same_.reports(), &other_.reports()}) {
            const wire::Reports& expected = stays_.reports();
            RC_ASSERT(told_by(*reports) == told_by(expected));
        }
        each([&](auto& t, auto* e) { return t.charged(e, gpu_); });
        each([&](auto& t, auto* e) { return t.leased(e, gpu_); });
        each([&](auto& t, auto* e) { return t.poll_at(e, gpu_, now_); });
        each([&, kind = *a_kind(), key = *a_key()](auto& t, auto* e) {
            std::uint32_t gpu = 0;
            std::uint64_t bytes = 0;
            return t.find(e, kind, key, &gpu, &bytes) + bytes;
        });
    }

  private:
    static rc::Gen<std::uint64_t> some_bytes() {
        return rc::gen::inRange<std::uint64_t>(1, 5 * wire::kGranule);
    }
    static rc::Gen<Holding> a_kind() {
        return rc::gen::element(Holding::address, Holding::array, Holding::physical, Holding::pool);
    }
    /// Few, so that they occur again; some are in one granule.
    static rc::Gen<std::uint64_t> a_key() {
        return rc::gen::map(rc::gen::inRange<std::uint64_t>(1, 24),
                            [](std::uint64_t n) { return n * 0x80000; });
    }
    static rc::Gen<std::uint64_t> a_context() { return rc::gen::inRange<std::uint64_t>(1, 3); }

    /// Does the same with all; their answers must be the same.
    template <class Do>
    auto answer(Do act) {
        const auto expected = act(stays_.table(), stays_.engine());
        RC_ASSERT(act(same_.table(), same_.engine()) == expected);
        RC_ASSERT(act(other_.table(), other_.engine()) == expected);
        return expected;
    }
    template <class Do>
    void each(Do act) {
        answer(act);
    }

    void reserve() {
        const auto bytes = *some_bytes();
        if (answer([&](auto& t, auto* e) { return t.reserve(e, gpu_, bytes); }) == 0)
            reserved_.push_back(bytes);
    }
    void settle() {
        if (reserved_.empty()) return;
        const auto bytes = reserved_.back();
        reserved_.pop_back();
        const auto kind = *a_kind();
        const auto key = *a_key();
        const bool cancels = *rc::gen::inRange(0, 4) == 0;
        each([&](auto& t, auto* e) {
            if (cancels)
                t.cancel(e, gpu_, bytes);
            else if (kind == Holding::pool)
                t.resize(e, gpu_, kind, key, bytes, bytes);
            else
                t.commit(e, gpu_, kind, key, bytes, bytes);
            return 0;
        });
    }
    void request_time() {
        const TimeRequest request{a_launch(), *rc::gen::inRange(0u, 600u), left_.decision.more, left_.time_ns,
                                  left_.decision.batch};
        const TimeGrant first = ask(request);
        if (first.decision.more < 2 || *rc::gen::inRange(0, 2) == 0) return;
        left_.decision.more = first.decision.more / 2;
        left_.time_ns = first.time_ns / 2;
        each([&](auto& t, auto* e) {
            return t.return_time(e, gpu_, first.decision.batch, first.decision.more - left_.decision.more,
                                 first.time_ns - left_.time_ns),
                   0;
        });
    }
    TimeGrant ask(const TimeRequest& request) {
        TimeGrant first{};
        bool know_first = false;
        each([&](auto& t, auto* e) {
            TimeGrant grant;
            std::memset(&grant, 0, sizeof grant);
            t.request_time(e, &request, &grant);
            if (!know_first) first = grant;
            know_first = true;
            return std::memcmp(&grant, &first, sizeof first);
        });
        if (first.close_first != 0)
            each([&](auto& t, auto* e) { return t.closed(e, first.close_first, now_), 0; });
        follow(request.launch, first.decision);
        left_ = first;
        return first;
    }
    Launch a_launch() const {
        return {gpu_,
                waiting_ > 0
                    ? *rc::gen::element(0u, waited_code(0), waited_code(5'000), waited_code(70'000'000))
                    : 0u,
                *a_context(),
                *rc::gen::inRange<std::uint64_t>(1, 4),
                *rc::gen::inRange<std::uint64_t>(1, 12),
                now_};
    }
    void follow(const Launch& launch, const Decision& decision) {
        if (decision.act == Act::wait && launch.waited == 0) ++waiting_;
        if (decision.act != Act::wait && launch.waited != 0) --waiting_;
        if (decision.close != 0) each([&](auto& t, auto* e) { return t.closed(e, decision.close, now_), 0; });
    }
    void close() {
        const auto context = *rc::gen::inRange<std::uint64_t>(0, 3);
        const auto batch = answer([&](auto& t, auto* e) {
            OpenBatch open{};
            t.next_open_batch(e, gpu_, context, ~std::uint64_t{0}, 0, &open);
            return open.batch;
        });
        each([&](auto& t, auto* e) { return t.closed(e, batch, now_), 0; });
    }
    void reap() {
        const auto context = *a_context();
        auto batch = answer([&](auto& t, auto* e) { return t.oldest(e, gpu_, context); });
        if (*rc::gen::inRange(0, 3) == 0)
            batch = answer([&](auto& t, auto* e) { return t.following(e, batch); });
        if (batch == 0) return;
        if (*rc::gen::inRange(0, 8) == 0) return each([&](auto& t, auto* e) { return t.lost(e, batch), 0; });
        const auto start = now_ - *rc::gen::inRange<std::int64_t>(0, 2'000'000);
        const auto end = start + *rc::gen::inRange<std::int64_t>(0, 2'000'000);
        each([&](auto& t, auto* e) {
            std::uint32_t ring = 0;
            t.reaped(e, batch, start, end, now_, &ring);
            return ring;
        });
    }
    /// A program that waits for each of its short kernels, a few times.
    void wait() {
        const Launch launch{gpu_, 0, 1, 1, *rc::gen::inRange<std::uint64_t>(1, 3), now_};
        for (int rounds = *rc::gen::inRange(1, 12); rounds > 0; --rounds) {
            const std::int64_t length = *rc::gen::inRange<std::int64_t>(9'000, 11'000);
            Launch at_once = launch;
            at_once.now_ns = now_;
            const BatchId batch =
                ask({at_once, 0, left_.decision.more, left_.time_ns, left_.decision.batch}).decision.open;
            if (batch == 0) return;
            const bool estimated = answer([&](auto& t, auto* e) { return t.may_estimate(e, batch); }) != 0;
            if (*rc::gen::inRange(0, 2) == 0) {
                const auto ns = *rc::gen::inRange<std::int64_t>(-1'000, 9'000);
                each([&](auto& t, auto* e) { return t.first_launched(e, batch, ns, now_), 0; });
                hand_over();
            }
            each([&](auto& t, auto* e) { return t.closed(e, batch, now_), 0; });
            each([&](auto& t, auto* e) { return t.sync_begin(e, gpu_, now_), 0; });
            const auto start = now_;
            const auto by_event = *rc::gen::inRange(0u, 2u);
            now_ += length;
            each([&](auto& t, auto* e) {
                std::uint32_t ring = 0;
                if (estimated)
                    t.estimated(e, batch, now_, by_event, now_, &ring);
                else
                    t.reaped(e, batch, start, now_, now_, &ring);
                return ring;
            });
            each([&](auto& t, auto* e) { return t.sync_end(e, gpu_, now_), 0; });
            hand_over();
        }
    }
    /// A program that launches more slowly than the GPU works. Its kernels may have changed since the last
    /// time.
    void launch_slowly() {
        const auto functions = *rc::gen::inRange<std::uint64_t>(1, 4);
        const auto length = *rc::gen::element<std::int64_t>(2'000, 10'000, 40'000);
        std::map<BatchId, std::int64_t> first_launches;
        for (int launches = *rc::gen::inRange(1, 80); launches > 0; --launches) {
            now_ += 60'000;
            const Launch launch{gpu_, 0, 1, 1, 20 + static_cast<std::uint64_t>(launches) % functions, now_};
            const TimeGrant grant =
                ask({launch, 0, left_.decision.more, left_.time_ns, left_.decision.batch});
            if (grant.decision.open != 0) first_launches[grant.decision.open] = now_;
            hand_over();
            now_ += length;
            if (launches % 16 == 0) close();
            for (;;) {
                const auto batch = answer([&](auto& t, auto* e) { return t.oldest(e, gpu_, 1); });
                if (batch == 0 || !first_launches.contains(batch)) break;
                each([&](auto& t, auto* e) {
                    std::uint32_t ring = 0;
                    t.reaped(e, batch, first_launches[batch], now_, now_, &ring);
                    return ring;
                });
            }
        }
    }
    void turn_gate() {
        const auto state = *rc::gen::element(wire::GateState::open, wire::GateState::open,
                                             wire::GateState::closed, wire::GateState::free);
        world_.pages.set(state, *rc::gen::element(INT64_MAX, now_ / 2), now_ + 1'000'000);
        world_.pages.orders.gates[0].overlap = *rc::gen::inRange(0u, 2u);
        world_.pages.orders.gates[0].contended = *rc::gen::inRange(0u, 2u);
        if (*rc::gen::inRange(0, 4) != 0) return;
        connected_ = !connected_;
        for (Subject* subject : {&stays_, &same_, &other_}) subject->bind(connected_);
    }

    static constexpr std::uint32_t gpu_ = 0;
    World world_;
    Subject stays_{world_, world_.reports[0]};
    Subject same_{world_, world_.reports[1]};
    Subject other_{world_, world_.reports[2]};
    std::int64_t now_ = 1;
    bool connected_ = true;
    std::uint32_t waiting_ = 0;
    TimeGrant left_{};  ///< of the last grant
    std::vector<std::uint64_t> reserved_;
};

RC_GTEST_PROP(HandoverLayout, NobodyCanTellThatAnEngineWasExchanged, ()) {
    Trial trial;
    const int steps = *rc::gen::inRange(1, 400);
    for (int i = 0; i < steps; ++i) {
        trial.step();
        trial.hand_over();
        trial.compare();
    }
}

}  // namespace
}  // namespace cgpu::module::test
