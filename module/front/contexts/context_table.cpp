#include "module/front/contexts/context_table.hpp"

#include <cstdlib>
#include <new>

#include "module/front/contexts/launch_changes.hpp"

namespace cgpu::front {
namespace {

constinit ContextTable the_contexts;

constexpr std::int64_t kRetireTimeout = kSecond;

}  // namespace

ContextTable& contexts() { return the_contexts; }

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
    return fill(handle, gpu, primary, nullptr, nullptr);
}

void ContextTable::add_green(CUcontext handle, CUgreenCtx green, Context& parent) {
    fill(handle, parent.gpu, false, &parent, green);
}

Context* ContextTable::find_green(CUgreenCtx green) {
    for (Context* each = first_.load(std::memory_order_acquire); each != nullptr; each = each->next) {
        if (each->handle.load() != nullptr && each->is_green() && each->green == green) return each;
    }
    return nullptr;
}

Context* ContextTable::fill(CUcontext handle, int gpu, bool primary, Context* parent, CUgreenCtx green) {
    const Locked lock(mutex_);
    if (Context* known = find(handle)) return known;
    Context* entry = find(nullptr);
    if (entry == nullptr) {
        entry = new (std::nothrow) Context;
        if (entry == nullptr) return nullptr;
        entry->next = first_.load();
        first_.store(entry, std::memory_order_release);
    }
    entry->gpu = gpu;
    entry->primary = primary;
    entry->uses = 1;
    entry->dying.store(false);
    entry->local_bytes_a_thread.store(Context::kStandardStack);
    entry->parent.store(parent);
    entry->green = green;
    if (parent != nullptr) greens_.fetch_add(1);
    entry->handle.store(handle, std::memory_order_release);
    launch_changes.note();
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
    if (context.is_green()) greens_.fetch_sub(1);
}

void ContextTable::reset_in_child() {
    mutex_.reset_in_child();
    first_.store(nullptr);
    greens_.store(0);
}

}  // namespace cgpu::front
