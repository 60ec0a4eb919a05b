#include "module/front/compute/gate.hpp"

#include <sched.h>

#include <algorithm>

#include "module/front/base/errands.hpp"
#include "module/front/compute/drain_demand.hpp"
#include "module/front/compute/reap.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/lease/pool_frees.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/memory/current_context.hpp"

namespace cgpu::front {
namespace {

using detail::Pass;

const wire::Gate& gate_of(int gpu) { return session().pages().orders()->gates[gpu]; }

/// The window is full: waits for the GPU to finish work, polls when the oldest batch should end, and then
/// less and less often.
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

/// The engine has received the thread's report of earlier launches.
void told(module::TimeRequest& request) {
    request.passed = request.returned_launches = 0;
    request.returned_ns = 0;
}

/// Asks the engine until it lets the launch pass.
module::TimeGrant ask_engine(module::TimeRequest& request, int gpu) {
    std::int64_t waits_since = 0;
    while (true) {
        module::TimeGrant grant{};
        const std::int64_t now = now_ns();
        request.launch.now_ns = now;
        if (request.launch.waited != 0) request.launch.waited = module::waited_code(now - waits_since);
        session().engine().request_time(request, grant);
        const module::Decision& decision = grant.decision;
        if (decision.ring != 0) session().pages().ring();
        if (decision.act != module::Act::wait) return grant;
        if (request.launch.waited == 0) waits_since = now;
        request.launch.waited = module::waited_code(0);
        told(request);
        const bool reaped = settle(gpu);
        if (decision.reap_first != 0) {
            if (!reaped) wait_for_batch(gpu, decision.until_ns);
            continue;
        }
        auto& held = held_threads[static_cast<std::size_t>(gpu)];
        held.fetch_add(1);
        // The daemon may be waiting for the work before it.
        errands().wake_by(session().engine().poll_at(static_cast<std::uint32_t>(gpu), now_ns()));
        if (decision.word != nullptr) {
            futex_wait(decision.word, decision.value, decision.until_ns);
        } else {
            sleep_until(decision.until_ns);
        }
        held.fetch_sub(1);
    }
}

/// The batch that took this thread's last launch.
struct LastBatch {
    const Context* context;
    module::BatchId id;
    std::uint32_t closes;  ///< ContextBatches::closes_of(id) then
    bool announce_locked;
};

/// Whether the batch takes another launch; without the lock if it is the same as before and nothing was
/// closed.
bool takes_another(Context& context, module::BatchId batch, const LastBatch& last, Pass& pass) {
    if (last.id != batch || last.context != &context || last.closes != pass.closes)
        return takes_launch(context, batch, pass.announce_locked);
    pass.announce_locked = last.announce_locked;
    return true;
}

/// Asks until the launch passes, and ensures that the batch that it was assigned to takes it: between the
/// question and the launch another thread may have closed that batch.
module::TimeGrant enter_batch(Context& context, const Work& work, module::TimeRequest& request,
                              const LastBatch& last, Pass& pass) {
    constexpr int kTries = 16;
    const auto gpu = static_cast<std::uint32_t>(context.gpu);
    for (int tries = 0;; ++tries) {
        module::TimeGrant grant = ask_engine(request, context.gpu);
        module::Decision& decision = grant.decision;
        if (decision.act != module::Act::launch) decision.batch = decision.close = 0;
        if (decision.batch == 0) return grant;
        if (grant.close_first != 0) close_batch(context, grant.close_first);
        Launching::begin(decision.batch, true);
        // Before the batch takes the launch, so that a later close is seen.
        pass.closes = context.batches.closes_of(decision.batch).load();
        const Opening opening{work.stream, pass.per_thread_stream, decision.close != 0, work.one_kernel};
        if (decision.open != 0 ? open_batch(context, decision.open, opening, pass.announce_locked)
                               : takes_another(context, decision.batch, last, pass)) {
            pass.opened = decision.open != 0;
            if (decision.close != 0) note_last_launch(context, decision.close);
            if (decision.open != 0) errands().wake_by(now_ns() + idle_before_close(context.gpu));
            return grant;
        }
        Launching::end(true);
        const bool again = decision.open == 0 && tries < kTries;
        if (again) {
            session().engine().return_time(gpu, decision.batch, 1 + decision.more,
                                           grant.time_ns + grant.cost_ns);
        }
        // A batch that was to be closed after this launch is closed without it.
        if (decision.close == 0 || close_batch(context, decision.close) == Closed::no)
            close_left_over(context, decision.batch);
        if (again) {
            request.launch.waited = 0;
            told(request);
            sched_yield();  // to who closes it
            continue;
        }
        decision.batch = decision.close = decision.more = 0;  // not measured
        return grant;
    }
}

/// The request, with the report of the thread's earlier launches; its grant ends.
module::TimeRequest make_request(const Context& context, const Work& work, std::uint32_t changes) {
    const auto function = reinterpret_cast<std::uintptr_t>(work.function);
    const module::Launch launch{
        static_cast<std::uint32_t>(context.gpu), 0, context.key(), stream_key(work.stream), function, 0};
    ThreadGrant& grant = ThreadGrant::mine();
    const std::uint32_t left = grant.free + grant.left;
    module::TimeRequest request{launch, 0, left, left != 0 ? grant.time_ns : 0, grant.batch};
    grant = ThreadGrant{};
    if (FunctionCosts* costs = FunctionCosts::of_thread()) {
        costs->forget_older(changes);
        if (FunctionCost* cost = costs->find(CodeTable::mark(function, context.owner().key()))) {
            request.passed = cost->granted - cost->left;
            cost->granted = cost->left;
        }
    }
    return request;
}

/// Stores what the engine has granted the thread, and what it returned about the function.
void keep_grant(Context& context, const Work& work, const module::TimeGrant& given, const Pass& pass,
                std::uint32_t changes) {
    const module::Decision& decision = given.decision;
    FunctionCosts* costs = nullptr;
    if (decision.batch != 0 && given.ask_after != 0) costs = FunctionCosts::make_for_thread();
    if (costs != nullptr) {
        costs->forget_older(changes);
        const auto function = reinterpret_cast<std::uintptr_t>(work.function);
        FunctionCost& cost = costs->make(CodeTable::mark(function, context.owner().key()));
        cost.batch = decision.batch;
        cost.cost_ns = static_cast<std::uint32_t>(given.cost_ns);
        cost.left = cost.granted = given.ask_after;
    }
    const bool freely = decision.batch == 0 && session().has_one_device() && contexts().has_only(context);
    ThreadGrant::mine() = {.free = freely ? decision.more : 0,
                           .left = freely ? 0 : decision.more,
                           .seq = decision.seq,
                           .changes = changes,
                           .gate_seq = &gate_of(context.gpu).seq,
                           .time_ns = given.time_ns,
                           .context = &context,
                           .handle = context.handle.load(),
                           .stream = work.stream,
                           .batch = decision.batch,
                           .closes = pass.closes,
                           .any_function = given.any_function != 0,
                           .per_thread_stream = pass.per_thread_stream,
                           .announce_locked = pass.announce_locked,
                           .salt = CodeTable::salt(context.owner().key()),
                           .costs = costs};
}

}  // namespace

namespace detail {

CUresult pass_gate(const Work& work, Pass& pass) {
    if (is_capturing(work.stream)) return kSuccess;
    Context* context = work.context != nullptr ? contexts().find(work.context) : context_of(work.stream);
    if (context == nullptr) return kSuccess;  // the driver says what is wrong
    if (context->gpu < 0) {
        session().link().notice(wire::Event::foreign_device_refused, 0, "launch");
        return kInvalidDevice;
    }
    pass.context = context;
    // The default stream of a green context is its own only for the thread where that one is current.
    const bool legacy = work.stream == nullptr || work.stream == stream_legacy();
    pass.per_thread_stream = work.stream == stream_per_thread() || (legacy && context->is_green());
    // Read first, so that a later change is seen.
    const auto changes = launch_changes.load();
    ThreadGrant& grant = ThreadGrant::mine();
    const LastBatch last{grant.context, grant.batch, grant.closes, grant.announce_locked};
    // The first launch of a function may wait for the daemon.
    const bool first = is_first_launch(context->owner(), work.function);
    const bool other_gpu = grant.context != nullptr && grant.context->gpu != context->gpu;
    if (first || other_gpu) grant.end();
    if (first) {
        const CUresult refused = before_launch(context->owner(), work.function, pass.first);
        if (refused != kSuccess) return refused;
    }
    module::TimeRequest request = make_request(*context, work, changes);
    const module::TimeGrant given = enter_batch(*context, work, request, last, pass);
    pass.batch = given.decision.batch;
    pass.close = given.decision.close;
    pass.cost_ns = given.cost_ns;
    keep_grant(*context, work, given, pass, changes);
    return kSuccess;
}

void return_launch(Context& context, module::BatchId batch, std::int64_t cost_ns) {
    session().engine().return_time(static_cast<std::uint32_t>(context.gpu), batch, 1, cost_ns);
}

void after_launch(const Pass& pass, bool launched) {
    const std::int64_t returned = pass.opened ? now_ns() : 0;
    if (pass.first.function != nullptr) after_first_launch(pass.context->owner(), pass.first, launched);
    if (pass.batch == 0) return;
    Context& context = *pass.context;
    if (!launched)
        return_launch(context, pass.batch, pass.cost_ns);
    else if (pass.opened)
        note_first_launch(context, pass.batch, returned);
    if (pass.per_thread_stream) mark_end(context, pass.batch);
    Launching::end(true);
    if (context.batches.closes_of(pass.batch).load() != pass.closes) close_left_over(context, pass.batch);
    if (pass.close == 0) return;
    close_batch(context, pass.close);
    if (awaits_drain(context.gpu)) {
        errands().wake_by(session().engine().poll_at(static_cast<std::uint32_t>(context.gpu), now_ns()));
    } else {
        reap(context);
    }
}

Waited begin_sync(Waits waits, CUstream stream) {
    const bool whole_context = waits != Waits::stream;
    Context* context = whole_context ? current_context() : context_of(stream);
    if (context == nullptr || context->gpu < 0) return {};
    if (captures_active()) return {};  // a wait into a capture fails; its error is the driver's to tell
    module::BatchId batch = 0;
    const bool legacy = stream == nullptr || stream == stream_legacy();
    ThreadGrant::mine().end();
    if (contexts().any_green() && (whole_context || legacy)) {
        // A wait for the primary context is one for its green contexts, too.
        contexts().for_each(context->gpu, [](Context& each) { close_batches(each, kAnyStream); });
    } else {
        const auto waited = waits == Waits::context ? kAnyStream : stream_key(stream);
        const auto closes = whole_context || legacy ? kAnyStream : waited;
        if (waits == Waits::perhaps)
            close_batches(*context, closes);
        else
            batch = close_before_wait(*context, closes, waited);
    }
    session().engine().sync_begin(static_cast<std::uint32_t>(context->gpu), now_ns());
    return {context, batch};
}

void end_sync(const Waited& waited, bool done) {
    Context& context = *waited.context;
    if (waited.batch != 0) end_by_wait(context, waited.batch, done);
    if (contexts().any_green())
        contexts().for_each(context.gpu, [](Context& each) { reap(each); });
    else
        reap(context);
    session().engine().sync_end(static_cast<std::uint32_t>(context.gpu), now_ns());
    if (!pool_frees().empty()) pool_frees().settle_done(now_ns());
    // Memory that pools keep beyond their thresholds goes back to the card now.
    if (pools().any(context.gpu)) pools().look_at_all(context.gpu);
}

}  // namespace detail

namespace {

/// Closes the batches of a stream. Returns its context; null: nothing is measured there.
const Context* close_batches_of(CUstream stream) {
    if (session().route() != Route::managed || is_capturing(stream)) return nullptr;
    Context* context = context_of(stream);
    if (context == nullptr || context->gpu < 0) return nullptr;
    ThreadGrant::mine().end();
    close_batches(*context, stream_key(stream));
    return context;
}

}  // namespace

void close_stream(CUstream stream) { close_batches_of(stream); }

void close_destroyed_stream(CUstream stream) {
    const Context* context = close_batches_of(stream);
    if (context == nullptr) return;
    const auto until = now_ns() + kSecond;
    module::OpenBatch open{};
    while (session().engine().next_open_batch(static_cast<std::uint32_t>(context->gpu), context->key(),
                                              stream_key(stream), 0, &open) &&
           now_ns() < until)
        sched_yield();
}

void reset_gate_in_child() {
    ThreadGrant::mine() = ThreadGrant{};
    for (auto& held : held_threads) held.store(0);
}

}  // namespace cgpu::front
