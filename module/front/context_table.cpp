#include "module/front/context_table.hpp"

#include <cstdlib>
#include <new>

#include "module/front/captures.hpp"
#include "module/front/context_count.hpp"
#include "module/front/real_driver.hpp"
#include "module/front/session.hpp"

namespace cgpu::front {
namespace {

constinit ContextTable the_contexts;

constexpr std::int64_t kRetireTimeout = kSecond;

}  // namespace

ContextTable& contexts() { return the_contexts; }

Context* ContextTable::current() {
    CUcontext handle = nullptr;
    if (real::cuCtxGetCurrent(&handle) != kSuccess || handle == nullptr) return nullptr;
    Context* known = find(handle);
    return known != nullptr ? known : adopt(handle);
}

Context* ContextTable::find(CUcontext handle) {
    for (Context* each = first_.load(std::memory_order_acquire); each != nullptr; each = each->next) {
        if (each->handle.load(std::memory_order_acquire) == handle) return each;
    }
    return nullptr;
}

Context* ContextTable::primary_of(int gpu) {
    for (Context* each = first_.load(std::memory_order_acquire); each != nullptr; each = each->next) {
        if (each->handle.load() != nullptr && each->primary && each->gpu == gpu) return each;
    }
    return nullptr;
}

bool ContextTable::has_only(const Context& context) const {
    for (const Context* each = first_.load(); each != nullptr; each = each->next)
        if (each != &context && each->handle.load() != nullptr) return false;
    return true;
}

Context* ContextTable::add(CUcontext handle, int gpu, bool primary) {
    const Locked lock(mutex_);
    if (Context* known = find(handle)) return known;
    Context* entry = find(nullptr);
    if (entry == nullptr) {
        entry = new (std::nothrow) Context;
        if (entry == nullptr) return nullptr;
        entry->next = first_.load();
        entry->gpu = gpu;
        first_.store(entry, std::memory_order_release);
    }
    entry->gpu = gpu;
    entry->primary = primary;
    entry->uses = 1;
    entry->dying.store(false);
    entry->handle.store(handle, std::memory_order_release);
    context_changes.fetch_add(1);
    return entry;
}

// Contexts come into being past the hooks, too: the CUDA runtime retains the primary one through a private
// table.
Context* ContextTable::adopt(CUcontext handle) {
    CUdevice device = 0;
    if (real::cuCtxGetDevice(&device) != kSuccess) return nullptr;
    const int gpu = session().gpu_of(device);
    unsigned flags = 0;
    int active = 0;
    const bool primary = gpu >= 0 && primary_of(gpu) == nullptr &&
                         real::cuDevicePrimaryCtxGetState(device, &flags, &active) == kSuccess && active != 0;
    Context* entry = add(handle, gpu, primary);
    if (entry != nullptr && gpu >= 0) context_count(gpu).adopt();
    return entry;
}

bool ContextTable::pin(Context& context) {
    context.pins.fetch_add(1);
    if (!context.dying.load() && context.handle.load() != nullptr) return true;
    unpin(context);
    return false;
}

void ContextTable::unpin(Context& context) {
    if (context.pins.fetch_sub(1) == 1 && context.dying.load()) futex_wake_all(&context.pins);
}

void ContextTable::retire(Context& context) {
    context.dying.store(true);
    const auto until = now_ns() + kRetireTimeout;
    while (now_ns() < until) {
        const auto pins = context.pins.load();
        if (pins == 0) return;
        futex_wait(&context.pins, pins, until);
    }
}

void ContextTable::remove(Context& context) {
    const Locked lock(mutex_);
    context.handle.store(nullptr);
}

void ContextTable::reset_in_child() {
    mutex_.reset_in_child();
    first_.store(nullptr);
    for (std::uint32_t gpu = 0; gpu < wire::kMaxGpus; ++gpu)
        context_count(static_cast<int>(gpu)).reset_in_child();
}

CurrentContext::CurrentContext(CUcontext handle) {
    CUcontext current = nullptr;
    if (real::cuCtxGetCurrent(&current) == kSuccess && current == handle) return;
    pushed_ = ok_ = real::cuCtxPushCurrent_v2(handle) == kSuccess;
}

CurrentContext::~CurrentContext() {
    CUcontext popped = nullptr;
    if (pushed_) real::cuCtxPopCurrent_v2(&popped);
}

RelaxedCapture::RelaxedCapture() {
    if (!captures_active()) return;
    mode_ = kCaptureRelaxed;
    exchanged_ = real::cuThreadExchangeStreamCaptureMode(&mode_) == kSuccess;
}

RelaxedCapture::~RelaxedCapture() {
    if (exchanged_) real::cuThreadExchangeStreamCaptureMode(&mode_);
}

}  // namespace cgpu::front
