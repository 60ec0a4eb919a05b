#include "module/front/gate.hpp"

#include <algorithm>

#include "module/front/captures.hpp"
#include "module/front/meter.hpp"
#include "module/front/pool_frees.hpp"
#include "module/front/pools.hpp"
#include "module/front/real_driver.hpp"
#include "module/front/service.hpp"

namespace cgpu::front {
namespace {

/// Launches that the engine has let through in advance, of one function on one stream by one thread.
struct Run {
    const void* function;
    std::uint64_t stream;
    Context* context;
    module::BatchId batch;
    std::uint32_t more;
    std::uint32_t seq;
    std::uint32_t closes;  ///< ContextMeter::closes when the run began: a closed batch takes no more launches
};

thread_local Run run __attribute__((tls_model("initial-exec"))) = {};
/// Its address is what tells the threads' own default streams apart.
thread_local char thread_mark __attribute__((tls_model("initial-exec"))) = 0;

constexpr std::int64_t kOpenBatchLook = kMillisecond;

const wire::Gate& gate_of(int gpu) { return session().pages().orders()->gates[gpu]; }

bool run_covers(const Work& work, std::uint64_t stream, const Context& context) {
    return run.more != 0 && run.function == work.function && run.stream == stream &&
           run.context == &context && gate_of(context.gpu).seq.load(std::memory_order_relaxed) == run.seq &&
           context.meter.closes.load(std::memory_order_relaxed) == run.closes;
}

void end_run() {
    if (run.more != 0 && run.batch != 0 && run.context->gpu >= 0) {
        session().engine().unused(static_cast<std::uint32_t>(run.context->gpu), run.batch, run.more);
    }
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
        } else if (decision.word != nullptr) {
            futex_wait(decision.word, decision.value, decision.until_ns);
        } else {
            sleep_until(decision.until_ns);
        }
    }
}

}  // namespace

std::uint64_t stream_key(CUstream stream) {
    if (stream == stream_per_thread()) return reinterpret_cast<std::uintptr_t>(&thread_mark);
    return stream == nullptr ? 1 : reinterpret_cast<std::uintptr_t>(stream);
}

namespace detail {

CUresult pass_gate(const Work& work, Pass& pass) {
    if (is_capturing(work.stream)) return kSuccess;
    Context* context = work.context != nullptr ? contexts().find(work.context) : contexts().current();
    if (context == nullptr) return kSuccess;  // the driver says what is wrong
    if (context->gpu < 0) {
        session().link().notice(wire::Event::foreign_device_refused, 0, "launch");
        return kInvalidDevice;
    }
    const auto key = stream_key(work.stream);
    pass.context = context;
    pass.per_thread_stream = work.stream == stream_per_thread();
    if (run_covers(work, key, *context)) {
        --run.more;
        pass.batch = run.batch;
        return kSuccess;
    }
    end_run();
    if (const CUresult refused = before_launch(*context, work.function, pass.first); refused != kSuccess)
        return refused;
    const auto closes = context->meter.closes.load();
    module::Launch launch{static_cast<std::uint32_t>(context->gpu),        0, context->key(), key,
                          reinterpret_cast<std::uintptr_t>(work.function), 0};
    const module::Decision decision = ask_engine(launch, context->gpu);
    pass.batch = decision.act == module::Act::launch ? decision.batch : 0;
    pass.close = decision.close;
    if (decision.open != 0) {
        if (!open_batch(*context, decision.open, work.stream, pass.per_thread_stream)) {
            pass.batch = pass.close = 0;
            return kSuccess;
        }
        service().wake_by(now_ns() + kOpenBatchLook);
    }
    run = Run{work.function, key, context, pass.batch, decision.more, decision.seq, closes};
    return kSuccess;
}

void after_launch(const Pass& pass, bool launched) {
    if (pass.first.function != nullptr) after_first_launch(*pass.context, pass.first, launched);
    if (pass.batch == 0) return;
    if (!launched) session().engine().unused(static_cast<std::uint32_t>(pass.context->gpu), pass.batch, 1);
    if (pass.per_thread_stream) mark_end(*pass.context, pass.batch);
    if (pass.close == 0) return;
    close_batch(*pass.context, pass.close);
    const auto now = now_ns();
    const auto next = session().engine().poll_at(static_cast<std::uint32_t>(pass.context->gpu), now);
    if (next != kNever) service().wake_by(next);
}

Context* begin_sync(CUstream stream, bool whole_context) {
    Context* context = contexts().current();
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
    Context* context = contexts().current();
    if (context == nullptr || context->gpu < 0) return;
    end_run();
    close_batches(*context, stream_key(stream));
}

void reset_gate_in_child() { run = Run{}; }

}  // namespace cgpu::front
