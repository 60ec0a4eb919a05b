#include "module/front/compute/gate.hpp"

#include <sched.h>

#include <algorithm>

#include "module/front/base/errands.hpp"
#include "module/front/compute/drain_demand.hpp"
#include "module/front/compute/meter.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/memory/current_context.hpp"
#include "module/front/memory/pool_frees.hpp"
#include "module/front/memory/pools.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kOpenBatchLook = kMillisecond;

const wire::Gate& gate_of(int gpu) { return session().pages().orders()->gates[gpu]; }

void end_run() {
    Run& run = Run::mine();
    if (const auto left = run.free + run.more; left != 0 && run.context->gpu >= 0)
        session().engine().unused(static_cast<std::uint32_t>(run.context->gpu), run.batch, left);
    run = Run{};
}

/// The window is full: waits for the GPU to finish something, looking when the oldest batch should end and
/// then ever less often.
void wait_for_batch(int gpu, std::int64_t until_ns) {
    constexpr std::int64_t kFirstStep = 5 * kMicrosecond;
    constexpr std::int64_t kUsualStep = 20 * kMicrosecond;
    constexpr std::int64_t kLongestStep = 500 * kMicrosecond;
    auto now = now_ns();
    const auto predicted = session().engine().poll_at(static_cast<std::uint32_t>(gpu), now);
    if (predicted != kNever && predicted > now) sleep_until(std::min(predicted, until_ns));
    const auto began = now_ns();
    auto step = kFirstStep;
    while (!settle(gpu)) {
        now = now_ns();
        if (now >= until_ns) return;
        sleep_until(std::min(now + step, until_ns));
        step = std::min(step * 2, now - began > kMillisecond ? kLongestStep : kUsualStep);
    }
}

/// Asks the engine until it lets the launch through.
module::Decision ask_engine(module::Launch& launch, int gpu) {
    while (true) {
        module::Decision decision{};
        launch.now_ns = now_ns();
        session().engine().enter(&launch, &decision);
        if (decision.ring != 0) session().pages().ring();
        if (decision.act != module::Act::wait) return decision;
        launch.waited = 1;
        const bool reaped = settle(gpu);
        if (decision.reap_first != 0) {
            if (!reaped) wait_for_batch(gpu, decision.until_ns);
            continue;
        }
        auto& held = held_threads[static_cast<std::size_t>(gpu)];
        held.fetch_add(1);
        // The work before it may be what the daemon waits for.
        errands().wake_by(session().engine().poll_at(static_cast<std::uint32_t>(gpu), now_ns()));
        if (decision.word != nullptr) {
            futex_wait(decision.word, decision.value, decision.until_ns);
        } else {
            sleep_until(decision.until_ns);
        }
        held.fetch_sub(1);
    }
}

/// A batch that took this thread's last launch, when no batch of the context had been closed since `closes`.
struct LastBatch {
    const Context* context;
    module::BatchId id;
    std::uint32_t closes;
};

/// Whether it takes another; without the lock where it is the same as before and nothing was closed.
bool takes_another(Context& context, module::BatchId batch, const LastBatch& last) {
    const bool same = last.id == batch && last.context == &context;
    return (same && context.meter.closes.load() == last.closes) || takes_launch(context, batch);
}

/// Asks until the launch passes, and sees to it that the batch that it was let into takes it: between the
/// question and the launch another thread may have closed it.
module::Decision enter_batch(Context& context, const Work& work, bool per_thread_stream, std::uint64_t key,
                             const LastBatch& last) {
    constexpr int kTries = 16;
    const auto gpu = static_cast<std::uint32_t>(context.gpu);
    const auto function = reinterpret_cast<std::uintptr_t>(work.function);
    for (int tries = 0;; ++tries) {
        module::Launch launch{gpu, 0, context.key(), key, function, 0};
        module::Decision decision = ask_engine(launch, context.gpu);
        if (decision.act != module::Act::launch) decision.batch = decision.close = 0;
        if (decision.batch == 0) return decision;
        Launching::begin(decision.batch);
        if (decision.open != 0 ? open_batch(context, decision.open, work.stream, per_thread_stream)
                               : takes_another(context, decision.batch, last)) {
            if (decision.close != 0) note_last_launch(context, decision.close);
            if (decision.open != 0) errands().wake_by(now_ns() + kOpenBatchLook);
            return decision;
        }
        Launching::end();
        close_left_over(context, decision.batch);
        if (decision.open == 0 && tries < kTries) {
            session().engine().unused(gpu, decision.batch, 1 + decision.more);
            sched_yield();  // to who closes it
            continue;
        }
        decision.batch = decision.close = decision.more = 0;  // not measured
        return decision;
    }
}

}  // namespace

namespace detail {
thread_local constinit Run this_run;
}

namespace detail {

CUresult pass_gate(const Work& work, Pass& pass) {
    if (is_capturing(work.stream)) return kSuccess;
    Context* context = work.context != nullptr ? contexts().find(work.context) : current_context();
    if (context == nullptr) return kSuccess;  // the driver says what is wrong
    if (context->gpu < 0) {
        session().link().notice(wire::Event::foreign_device_refused, 0, "launch");
        return kInvalidDevice;
    }
    const auto key = stream_key(work.stream);
    pass.context = context;
    pass.per_thread_stream = work.stream == stream_per_thread();
    const Run& before = Run::mine();
    const LastBatch last{before.context, before.batch, before.closes};
    end_run();
    // In this order: what changes after it is seen.
    const auto changes = context_changes.load();
    if (const CUresult refused = before_launch(*context, work.function, pass.first); refused != kSuccess)
        return refused;
    pass.closes = context->meter.closes.load();
    const module::Decision decision = enter_batch(*context, work, pass.per_thread_stream, key, last);
    pass.batch = decision.batch;
    pass.close = decision.close;
    const bool freely = decision.batch == 0 && session().has_one_device() && contexts().has_only(*context);
    Run::mine() = {.function = work.function,
                   .gate_seq = &gate_of(context->gpu).seq,
                   .seq = decision.seq,
                   .changes = changes,
                   .free = freely ? decision.more : 0,
                   .more = freely ? 0 : decision.more,
                   .context = context,
                   .handle = context->handle.load(),
                   .stream = work.stream,
                   .closes = pass.closes,
                   .per_thread_stream = pass.per_thread_stream && decision.batch != 0,
                   .batch = decision.batch};
    return kSuccess;
}

void note_odd_launch(Context& context, module::BatchId batch, bool per_thread_stream, bool launched) {
    if (!launched) session().engine().unused(static_cast<std::uint32_t>(context.gpu), batch, 1);
    if (per_thread_stream) mark_end(context, batch);
}

void after_launch(const Pass& pass, bool launched) {
    if (pass.first.function != nullptr) after_first_launch(*pass.context, pass.first, launched);
    if (pass.batch == 0) return;
    note_odd_launch(*pass.context, pass.batch, pass.per_thread_stream, launched);
    Launching::end();
    if (pass.context->meter.closes.load() != pass.closes) close_left_over(*pass.context, pass.batch);
    if (pass.close == 0) return;
    close_batch(*pass.context, pass.close);
    if (awaits_drain(pass.context->gpu)) {
        errands().wake_by(
            session().engine().poll_at(static_cast<std::uint32_t>(pass.context->gpu), now_ns()));
    } else {
        reap(*pass.context);
    }
}

Context* begin_sync(CUstream stream, bool whole_context) {
    Context* context = current_context();
    if (context == nullptr || context->gpu < 0) return nullptr;
    if (captures_active()) return nullptr;  // a wait into a capture fails; its error is the driver's to tell
    const bool legacy = stream == nullptr || stream == stream_legacy();
    end_run();
    close_batches(*context, whole_context || legacy ? kAnyStream : stream_key(stream));
    session().engine().sync_begin(static_cast<std::uint32_t>(context->gpu), now_ns());
    return context;
}

void end_sync(Context& context) {
    reap(context);
    session().engine().sync_end(static_cast<std::uint32_t>(context.gpu), now_ns());
    if (!pool_frees().empty()) pool_frees().settle_done(now_ns());
    // What pools keep beyond their thresholds goes back to the card now.
    if (pools().any(context.gpu)) pools().look_at_all(context.gpu);
}

}  // namespace detail

void close_stream(CUstream stream) {
    if (session().route() != Route::managed || is_capturing(stream)) return;
    Context* context = current_context();
    if (context == nullptr || context->gpu < 0) return;
    end_run();
    close_batches(*context, stream_key(stream));
}

void reset_gate_in_child() {
    Run::mine() = Run{};
    for (auto& held : held_threads) held.store(0);
}

}  // namespace cgpu::front
