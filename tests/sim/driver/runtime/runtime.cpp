#include "tests/sim/driver/runtime/runtime.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "tests/sim/device/file/device_path.hpp"
#include "tests/sim/driver/base/visible_devices.hpp"

namespace simgpu {

namespace {

std::mutex initialize_mutex;
std::atomic<Runtime*> the_runtime{nullptr};
std::atomic<bool> forked{false};

// A fork waits for a cuInit of another thread: the child has all of it, or nothing.
void before_fork() {
    initialize_mutex.lock();
    if (Runtime* runtime = the_runtime) runtime->device().before_fork();
}
void after_fork_in_parent() {
    if (Runtime* runtime = the_runtime) runtime->device().after_fork_in_parent();
    initialize_mutex.unlock();
}
void after_fork_in_child() {
    if (Runtime* runtime = the_runtime) {
        forked = true;
        runtime->device().after_fork_in_child();
    }
    initialize_mutex.unlock();
}

// When the library is loaded: a fork that has begun asks no handler that is registered meanwhile.
__attribute__((constructor)) void handle_forks() {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

CUresult Runtime::initialize() {
    const std::lock_guard lock(initialize_mutex);
    if (forked) return CUDA_ERROR_NOT_INITIALIZED;
    if (the_runtime) return CUDA_SUCCESS;
    auto device = Device::open(device_path());
    if (!device) return CUDA_ERROR_NO_DEVICE;
    auto visible =
        visible_devices(std::getenv("CUDA_VISIBLE_DEVICES"), device->layout().cards, device->gpu_count());
    if (visible.empty()) return CUDA_ERROR_NO_DEVICE;
    std::unique_ptr<Runtime> runtime(new Runtime(std::move(device), std::move(visible)));
    if (const CUresult result = runtime->enter(); result != CUDA_SUCCESS) return result;
    // It is never destroyed: other threads may be inside it while the process ends.
    the_runtime = runtime.release();
    return CUDA_SUCCESS;
}

Runtime* Runtime::get() { return forked.load(std::memory_order_relaxed) ? nullptr : the_runtime.load(); }

Runtime::Runtime(std::unique_ptr<Device> device, std::vector<std::uint32_t> visible)
    : Process(std::move(device), std::move(visible)),
      words_(*this),
      observer_(*this, words_, [this] { return living_queues(); }),
      holdings_(*this),
      memory_(*this, observer_, holdings_, virtual_memory_),
      host_functions_(observer_),
      graph_memory_(*this, observer_, memory_),
      primaries_(visible_count()) {}

std::vector<Context*> Runtime::living_contexts() const {
    const std::lock_guard lock(contexts_mutex_);
    return living_;
}

std::vector<Queue*> Runtime::living_queues() const {
    std::vector<Queue*> queues;
    for (Context* context : living_contexts()) {
        for (std::uint32_t q = 0; q < context->queue_count(); ++q) queues.push_back(&context->queue(q));
    }
    return queues;
}

void Runtime::list(Context& context) {
    const std::lock_guard lock(contexts_mutex_);
    living_.push_back(&context);
}

Context* Runtime::create_context(std::uint32_t ordinal, unsigned int flags, CUresult& result) {
    auto context = std::make_unique<Context>(*this, *this, observer_, ordinal, false, flags);
    result = context->open();
    if (result != CUDA_SUCCESS) return nullptr;
    list(*context);
    const std::lock_guard lock(contexts_mutex_);
    created_.push_back(std::move(context));
    return created_.back().get();
}

void Runtime::unlist(Context& context) {
    const std::lock_guard lock(contexts_mutex_);
    std::erase(living_, &context);
}

void Runtime::destroy_context(Context& context) {
    for (Context* other : living_contexts()) {
        if (other->parent() != &context) continue;
        unlist(*other);
        other->close();
    }
    context.synchronize();
    graph_memory_.release_all(context);
    memory_.release_all(context);
    unlist(context);
    context.close();
}

Context* Runtime::create_green(std::uint32_t ordinal, CUresult& result) {
    Context* primary = nullptr;
    result = retain_primary(ordinal, primary);
    if (result != CUDA_SUCCESS) return nullptr;
    auto context =
        std::make_unique<Context>(*this, *this, observer_, ordinal, false, primary->flags, primary);
    result = context->open();
    if (result != CUDA_SUCCESS) {
        release_primary(ordinal);
        return nullptr;
    }
    list(*context);
    const std::lock_guard lock(contexts_mutex_);
    created_.push_back(std::move(context));
    return created_.back().get();
}

void Runtime::destroy_green(Context& context) {
    context.synchronize();
    unlist(context);
    context.close();
    release_primary(context.ordinal());
}

CUresult Runtime::retain_primary(std::uint32_t ordinal, Context*& context) {
    const std::lock_guard lock(primaries_mutex_);
    Primary& primary = primaries_[ordinal];
    if (!primary.context)
        primary.context = std::make_unique<Context>(*this, *this, observer_, ordinal, true, primary.flags);
    if (!primary.context->is_open()) {
        if (const CUresult result = primary.context->open(); result != CUDA_SUCCESS) return result;
        list(*primary.context);
    }
    ++primary.holders;
    context = primary.context.get();
    return CUDA_SUCCESS;
}

CUresult Runtime::release_primary(std::uint32_t ordinal) {
    const std::lock_guard lock(primaries_mutex_);
    Primary& primary = primaries_[ordinal];
    if (primary.holders == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary.holders == 0) destroy_context(*primary.context);
    return CUDA_SUCCESS;
}

void Runtime::reset_primary(std::uint32_t ordinal) {
    const std::lock_guard lock(primaries_mutex_);
    Primary& primary = primaries_[ordinal];
    if (primary.context && primary.context->is_open()) destroy_context(*primary.context);
    primary.holders = 0;
}

void Runtime::synchronize_all() {
    for (Context* context : living_contexts()) context->synchronize();
}

void Runtime::synchronized() { memory_.trim_pools(); }

std::vector<Context*>& context_stack() {
    thread_local std::vector<Context*> stack;
    return stack;
}

CUresult current_context(Context*& context) {
    const CUresult result = current_stream_context(context);
    if (result == CUDA_SUCCESS) context = &context->resources();
    return result;
}

CUresult current_stream_context(Context*& context) {
    if (!Runtime::get()) return CUDA_ERROR_NOT_INITIALIZED;
    if (context_stack().empty() || !context_stack().back()) return CUDA_ERROR_INVALID_CONTEXT;
    context = context_stack().back();
    if (!context->is_open()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    // The error for programs whose GPU has fallen off its bus.
    if (Runtime::get()->device().is_lost(context->gpu())) return CUDA_ERROR_UNKNOWN;
    return context->error();
}

}  // namespace simgpu
