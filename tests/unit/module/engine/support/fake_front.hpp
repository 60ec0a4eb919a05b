#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "tests/unit/module/engine/support/engine_fixture.hpp"
#include "tests/unit/module/engine/support/fake_gpu.hpp"

namespace cgpu::module::test {

struct Kernel {
    std::uint64_t function;
    std::int64_t ns;
};

/// One thread of a program: launches the kernels of `next` on its stream, with `pause` after each launch.
/// With `waits_each`, it waits for the stream after so many launches.
struct Program {
    std::uint64_t stream;
    std::function<Kernel()> next;
    std::int64_t pause = 0;
    std::uint64_t waits_each = 0;
    // its state
    std::int64_t at = 0;
    bool waiting = false;
    Kernel wanted{};
    std::uint32_t more = 0;
    std::int64_t time_ns = 0;
    bool any_function = false;
    struct Known {
        std::int64_t cost_ns;
        std::uint32_t left;
        std::uint32_t passed;
        BatchId batch;
    };
    std::map<std::uint64_t, Known> costs;
    BatchId batch = 0;
    std::uint64_t launched = 0;
    bool synchronising = false;
    std::uint64_t waited_at = 0;  ///< value of launched
    std::uint64_t marker = 0;     ///< an event behind what it waits for
    BatchId waited_for = 0;
    std::int64_t closed_at = 0;  ///< when that batch was
};

/// Does the front's work, in virtual time.
class FakeFront {
  public:
    static constexpr std::uint64_t kContext = 7;
    static constexpr std::int64_t kLaunchCost = 3'000;

    explicit FakeFront(EngineUnderTest& engine) : engine_(engine) {}

    FakeGpu gpu;
    std::vector<Program> programs;
    std::int64_t most_queued = 0;
    std::uint64_t asked = 0;
    std::uint64_t rings = 0;
    std::uint64_t batches = 0;
    std::uint64_t recorded = 0;   ///< events
    std::int64_t event_cost = 0;  ///< ns of the launching thread for each
    /// ns of a launch call until the GPU has the kernel, and from then until the call returns.
    std::int64_t launch_call = 0;
    std::function<std::int64_t()> late_return;

    void run(std::int64_t until) {
        for (Program& program : programs) program.wanted = program.next();
        while (now_ < until) {
            Program* first = &programs.front();
            for (Program& each : programs) {
                if (each.at < first->at) first = &each;
            }
            const std::int64_t service = service_at();
            go_to(std::max(now_, std::min(first->at, service)));
            if (service <= first->at) {
                look_after();
            } else {
                step(*first);
            }
            most_queued = std::max(most_queued, gpu.queued_ns());
        }
    }

    /// Lets all work end and be measured.
    void drain() {
        for (Program& each : programs) give_back(each);
        close_all(0);
        while (!gpu.idle()) go_to(now_ + 1'000'000);
        for (Program& each : programs) {
            if (each.synchronising) wait_on(each);
        }
        reap();
    }

    std::int64_t now() const { return now_; }

  private:
    struct Events {
        std::uint64_t start = 0;
        std::uint64_t end = 0;
        bool estimated = false;
        bool ends_with_wait = false;
    };

    void go_to(std::int64_t time) {
        now_ = std::max(now_, time);
        gpu.advance(now_);
    }

    void step(Program& program) {
        if (program.synchronising) return wait_on(program);
        if (program.waits_each > 0 && program.launched % program.waits_each == 0 &&
            program.launched != program.waited_at)
            return begin_wait(program);
        if (passes_on_grant(program)) return launch(program);
        ++asked;
        const Decision decision = ask(program);
        if (decision.ring != 0) ++rings;
        program.waiting = decision.act == Act::wait;
        if (program.waiting) {
            close_all(0);
            reap();
            program.at = std::max(decision.until_ns, now_ + 1'000);
            return;
        }
        const std::int64_t idle_since = decision.open != 0 ? open(decision, program.stream) : 0;
        launch(program);
        if (idle_since != 0)
            engine_.table.first_launched(engine_.engine, decision.open, now_ - idle_since, now_);
        if (decision.close != 0) close(decision.close, program.stream);
        program.batch = decision.batch;
        program.more = decision.more;
    }

    /// Returns when the start event was recorded if the stream was idle; else 0.
    std::int64_t open(const Decision& decision, std::uint64_t stream) {
        Events& events = events_[decision.open];
        events.estimated =
            decision.close == 0 && engine_.table.may_estimate(engine_.engine, decision.open) != 0;
        if (events.estimated) return 0;
        // As the front asks the driver: while other batches run, only if this one has one launch.
        const bool idle = (events_.size() == 1 || decision.close != 0) && gpu.idle(stream);
        events.start = record(stream);
        return idle ? now_ : 0;
    }

    std::uint64_t record(std::uint64_t stream) {
        ++recorded;
        go_to(now_ + event_cost);  // the GPU gets it at the end of the call, as it does kernels
        return gpu.record(stream);
    }

    void begin_wait(Program& program) {
        program.waited_at = program.launched;
        program.synchronising = true;
        give_back(program);
        OpenBatch open{};
        while (engine_.table.next_open_batch(engine_.engine, 0, kContext, program.stream, 0, &open) != 0) {
            if (events_[open.batch].estimated) {
                program.waited_for = open.batch;
                program.closed_at = now_;
                events_[open.batch].ends_with_wait = true;
                engine_.table.closed(engine_.engine, open.batch, now_);
            } else {
                close(open.batch, open.stream);
            }
        }
        program.marker = gpu.record(program.stream);
        engine_.table.sync_begin(engine_.engine, 0, now_);
        program.at = now_ + 1'000;
    }

    void wait_on(Program& program) {
        program.at = now_ + 1'000;
        if (gpu.happened(program.marker) < 0) return;
        program.synchronising = false;
        if (program.waited_for != 0 && events_.count(program.waited_for) != 0 &&
            events_[program.waited_for].ends_with_wait)
            end_estimated(program.waited_for, now_, false);
        program.waited_for = 0;
        reap();
        engine_.table.sync_end(engine_.engine, 0, now_);
    }

    void end_estimated(BatchId id, std::int64_t end, bool by_event) {
        std::uint32_t ring = 0;
        engine_.table.estimated(engine_.engine, id, end, by_event ? 1 : 0, now_, &ring);
        rings += ring;
        events_.erase(id);
    }

    /// As record_late_ends does.
    void record_late_ends() {
        for (Program& each : programs) {
            if (each.waited_for == 0 || !events_[each.waited_for].ends_with_wait ||
                now_ - each.closed_at < 2'000'000)
                continue;
            events_[each.waited_for].ends_with_wait = false;
            events_[each.waited_for].end = record(each.stream);
            engine_.table.closed(engine_.engine, each.waited_for, now_);
        }
    }

    bool passes_on_grant(Program& program) {
        const auto known = program.costs.find(program.wanted.function);
        if (program.more == 0 || known == program.costs.end()) return false;
        auto& [cost_ns, left, passed, batch] = known->second;
        if (left == 0 || cost_ns > program.time_ns || (batch != program.batch && !program.any_function))
            return false;
        --program.more;
        program.time_ns -= cost_ns;
        --left;
        ++passed;
        return true;
    }

    Decision ask(Program& program) {
        const Launch launch{
            0,   program.waiting ? waited_code(0) : 0u, kContext, program.stream, program.wanted.function,
            now_};
        Program::Known& known = program.costs[launch.function];
        const TimeRequest request{launch, known.passed, program.more, program.time_ns, program.batch};
        const TimeGrant grant = engine_.request_time(request);
        program.more = 0;
        if (grant.close_first != 0) close(grant.close_first, program.stream);
        program.time_ns = grant.time_ns;
        program.any_function = grant.any_function != 0;
        known = {grant.cost_ns, grant.ask_after, 0, grant.decision.batch};
        return grant.decision;
    }

    void launch(Program& program) {
        go_to(now_ + launch_call);
        gpu.launch(program.stream, program.wanted.ns);
        if (late_return) go_to(now_ + late_return());
        program.wanted = program.next();
        ++program.launched;
        program.at = now_ + kLaunchCost + program.pause;
    }

    void give_back(Program& program) {
        if (program.more == 0) return;
        engine_.table.return_time(engine_.engine, 0, program.batch, program.more, program.time_ns);
        program.more = 0;
        program.time_ns = 0;
    }

    void close(BatchId batch, std::uint64_t stream) {
        for (Program& each : programs) {
            if (each.batch == batch) give_back(each);
        }
        events_[batch].end = record(stream);
        engine_.table.closed(engine_.engine, batch, now_);
        ++batches;
    }

    void close_all(std::int64_t older_than) {
        OpenBatch open{};
        while (engine_.table.next_open_batch(engine_.engine, 0, kContext, ~0ull, older_than, &open) != 0) {
            close(open.batch, open.stream);
        }
    }

    void reap() {
        for (BatchId id = engine_.table.oldest(engine_.engine, 0, kContext); id != 0;) {
            const BatchId following = engine_.table.following(engine_.engine, id);
            const Events& events = events_[id];
            const std::int64_t end = events.ends_with_wait ? -1 : gpu.happened(events.end);
            if (end >= 0 && events.estimated) {
                end_estimated(id, end, true);
            } else if (end >= 0) {
                std::uint32_t ring = 0;
                engine_.table.reaped(engine_.engine, id, gpu.happened(events.start), end, now_, &ring);
                rings += ring;
                events_.erase(id);
            }
            id = following;
        }
    }

    std::int64_t service_at() {
        OpenBatch open{};
        const bool any = engine_.table.next_open_batch(engine_.engine, 0, kContext, ~0ull, 0, &open) != 0;
        const std::int64_t poll = engine_.table.poll_at(engine_.engine, 0, now_);
        return std::max(looked_ + 20'000, std::min(poll, any ? looked_ + 1'000'000 : INT64_MAX));
    }

    void look_after() {
        looked_ = now_;
        close_all(now_ - 1'000'000);
        record_late_ends();
        reap();
    }

    EngineUnderTest& engine_;
    std::map<BatchId, Events> events_;
    std::int64_t now_ = 1;
    std::int64_t looked_ = 0;
};

/// The time charged for what the GPU did: 1 is exact.
inline double charged(const Pages& pages, const FakeFront& front) {
    return static_cast<double>(pages.reports.gpus[0].used_ns) / static_cast<double>(front.gpu.busy_ns());
}

}  // namespace cgpu::module::test
