#include "module/front/lease/pool_frees.hpp"

#include <new>

#include "module/front/base/errands.hpp"
#include "module/front/contexts/event_pool.hpp"
#include "module/front/driver/context_scope.hpp"
#include "module/front/driver/real_driver.hpp"
#include "module/front/driver/relaxed_capture.hpp"
#include "module/front/driver/stream_key.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constinit PoolFrees the_pool_frees;

/// The GPU from whose pools this thread is allocating; negative: none.
thread_local int takes_of __attribute__((tls_model("initial-exec"))) = -1;

constexpr std::int64_t kLookEvery = kMillisecond;

}  // namespace

struct PoolFrees::Free {
    Context* context;
    // The context's entry may serve another context by now, of another GPU.
    CUcontext handle;
    int gpu;
    std::uint64_t stream;
    CUevent event;
    Free* next;
};

PoolFrees& pool_frees() { return the_pool_frees; }

void PoolFrees::add(Context& context, CUstream stream) {
    const CUevent event = take_event(context);
    auto* free = new (std::nothrow)
        Free{&context, context.handle.load(), context.gpu, stream_key(stream), event, nullptr};
    if (free == nullptr || event == nullptr || real::cuEventRecord(event, stream) != kSuccess) {
        // Without an event the time of the free is unknown; a later query of the pool will show it.
        delete free;
        put_event(context, event);
        return;
    }
    outstanding_[static_cast<std::size_t>(context.gpu)].fetch_add(1);
    mutex_.lock();
    free->next = first_.load();
    first_.store(free);
    mutex_.unlock();
    errands().wake_by(now_ns() + kLookEvery);
}

/// Removes and returns the first entry that `pick` accepts.
template <class Pick>
PoolFrees::Free* PoolFrees::take(Pick pick) {
    const Locked lock(mutex_);
    Free* before = nullptr;
    for (Free* each = first_.load(); each != nullptr; before = each, each = each->next) {
        if (!pick(*each)) continue;
        if (before == nullptr) {
            first_.store(each->next);
        } else {
            before->next = each->next;
        }
        return each;
    }
    return nullptr;
}

std::int64_t PoolFrees::settle_done(std::int64_t now) {
    if (empty()) return kNever;
    // Frees that aren't done yet go to a list of their own, so that each is queried once; no lock is held
    // over a driver call.
    Free* waiting = nullptr;
    while (Free* free = take([](const Free&) { return true; })) {
        CUresult state = kSuccess;
        const bool pinned = contexts().pin(*free->context);
        const bool alive = pinned && free->context->handle.load() == free->handle;
        if (alive) {
            const RelaxedCapture relaxed;
            const ContextScope current(free->handle);
            state = current.ok() ? real::cuEventQuery(free->event) : kSuccess;
            // The context may have been destroyed meanwhile, after the pin's timeout, and its events with it.
            const bool still = free->context->handle.load() == free->handle;
            if (state != kNotReady && still) put_event(*free->context, free->event);
        }
        if (pinned) contexts().unpin(*free->context);
        if (state == kNotReady) {
            free->next = waiting;
            waiting = free;
            continue;
        }
        finish(free);
    }
    const Locked lock(mutex_);
    while (waiting != nullptr) {
        Free* next = waiting->next;
        waiting->next = first_.load();
        first_.store(waiting);
        waiting = next;
    }
    return empty() ? kNever : now + kLookEvery;
}

bool PoolFrees::on_its_way_elsewhere(const Context& context, CUstream stream) {
    const auto key = stream_key(stream);
    const Locked lock(mutex_);
    for (const Free* each = first_.load(); each != nullptr; each = each->next)
        if (each->gpu == context.gpu && (each->handle != context.handle.load() || each->stream != key))
            return true;
    return false;
}

bool PoolFrees::wait_for_progress(int gpu, std::uint32_t seen, std::int64_t until_ns) {
    auto& outstanding = outstanding_[static_cast<std::size_t>(gpu)];
    // Two waiting threads don't wait for each other.
    const int own = takes_of == gpu ? 1 : 0;
    outstanding.fetch_sub(own);
    bool changed = false;
    bool any = true;
    while (!changed && any && now_ns() < until_ns) {
        settle_done(now_ns());
        any = outstanding.load() > 0;  // before the progress: who ends tells that first
        changed = progress(gpu) != seen;
        if (!changed && any) sleep_until(now_ns() + 200 * kMicrosecond);
    }
    outstanding.fetch_add(own);
    return changed;
}

void PoolFrees::progressed(int gpu) {
    progress_[static_cast<std::size_t>(gpu)].fetch_add(1);
    outstanding_[static_cast<std::size_t>(gpu)].fetch_sub(1);
}

void PoolFrees::finish(Free* free) {
    const int gpu = free->gpu;
    delete free;
    pools().look_at_all(gpu);
    progressed(gpu);
}

PoolFrees::Taking::Taking(int gpu) {
    takes_of = gpu;
    pool_frees().outstanding_[static_cast<std::size_t>(gpu)].fetch_add(1);
}

PoolFrees::Taking::~Taking() {
    pool_frees().progressed(takes_of);
    takes_of = -1;
}

void PoolFrees::forget(const Context& context) {
    while (Free* free = take([&](const Free& each) { return each.context == &context; })) finish(free);
}

void PoolFrees::reset_in_child() {
    mutex_.reset_in_child();
    first_.store(nullptr);
    for (auto& count : outstanding_) count.store(0);
    takes_of = -1;
}

}  // namespace cgpu::front
