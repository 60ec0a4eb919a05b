#include "tests/sim/driver/context/context_memory.hpp"

#include <algorithm>

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/driver/base/charge.hpp"
#include "tests/sim/driver/base/process.hpp"
#include "tests/sim/driver/module/module.hpp"
#include "tests/sim/model/block_heap.hpp"

namespace simgpu {

namespace {

/// The standard size is part of what a context costs.
std::uint64_t beyond_standard(std::size_t value, std::size_t standard) {
    return value <= standard ? 0 : round_up(value, kBlock) - round_up(standard, kBlock);
}

}  // namespace

/// Sets the charge for this purpose to so many bytes. @return false: the card has no room for more.
bool ContextMemory::recharge(Purpose purpose, std::uint64_t& charged, std::uint64_t bytes) const {
    if (bytes > charged && !charge(process_, gpu_, purpose, bytes - charged)) return false;
    if (bytes < charged) refund(process_, gpu_, purpose, charged - bytes);
    charged = bytes;
    return true;
}

CUresult ContextMemory::prepare(const Function& function) {
    if (limits_changed_.load(std::memory_order_relaxed)) {
        if (const CUresult result = apply_limits(); result != CUDA_SUCCESS) return result;
    }
    if (function.local_bytes > local_bytes_.load(std::memory_order_relaxed)) {
        if (const CUresult result = take_local(function.local_bytes, 0); result != CUDA_SUCCESS)
            return result;
    }
    return latest_.load(std::memory_order_relaxed) == &function.module && function.stack_bytes == 0
               ? CUDA_SUCCESS
               : load(function);
}

/// For as many threads as the GPU runs at once, however few are launched. It stays until the context's end,
/// or until a kernel needs more. A context has as much for each thread as a standard stack from its beginning
/// (measured: docs/gpu-results.md).
CUresult ContextMemory::take_local(std::uint64_t local_bytes, std::uint64_t stack_bytes) {
    const std::lock_guard lock(mutex_);
    const auto local = std::max<std::uint64_t>(local_bytes, local_bytes_);
    const auto stacks = std::max<std::uint64_t>(stack_bytes, stack_bytes_);
    const auto multiprocessors = static_cast<std::uint64_t>(process_.device().card(gpu_).sm_count);
    const std::uint64_t bytes =
        (local - kStandardStack + stacks) * multiprocessors * kThreadsPerMultiprocessor;
    if (!recharge(Purpose::context, local_charged_, round_up(bytes, kBlock))) return CUDA_ERROR_OUT_OF_MEMORY;
    local_bytes_ = local;
    stack_bytes_ = stacks;
    return CUDA_SUCCESS;
}

CUresult ContextMemory::load(const Function& function) {
    if (function.stack_bytes > stack_bytes_.load(std::memory_order_relaxed)) {
        if (const CUresult result = take_local(0, function.stack_bytes); result != CUDA_SUCCESS)
            return result;
    }
    return load(function.module);
}

CUresult ContextMemory::load(const Module& module) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t bytes = round_up(module.image_bytes, kGranule);
    if (!code_.contains(&module)) {
        if (!resize_code(code_bytes_ + bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
        code_[&module] = bytes;
    }
    latest_ = &module;
    return CUDA_SUCCESS;
}

void ContextMemory::unload(const Module& module) {
    const std::lock_guard lock(mutex_);
    latest_ = nullptr;
    const auto code = code_.find(&module);
    if (code == code_.end()) return;
    resize_code(code_bytes_ - code->second);
    code_.erase(code);
}

bool ContextMemory::resize_code(std::uint64_t bytes) {
    if (!recharge(Purpose::module, code_charged_, round_up(bytes, kBlock))) return false;
    code_bytes_ = bytes;
    return true;
}

std::size_t ContextMemory::limit(CUlimit limit) const {
    const std::lock_guard lock(mutex_);
    return limits_[limit];
}

void ContextMemory::set_limit(CUlimit limit, std::size_t value) {
    const std::lock_guard lock(mutex_);
    limits_[limit] = value;
    limits_changed_ = true;
}

CUresult ContextMemory::apply_limits() {
    const std::lock_guard lock(mutex_);
    std::uint64_t bytes = 0;
    for (const CUlimit limit : {CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE}) {
        const std::size_t value = std::min<std::size_t>(limits_[limit], kLongestAllocation);
        bytes += beyond_standard(value, kStandardLimits[limit]);
    }
    if (!recharge(Purpose::context, limits_charged_, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    limits_changed_ = false;
    return CUDA_SUCCESS;
}

void ContextMemory::clear() {
    const std::lock_guard lock(mutex_);
    latest_ = nullptr;
    code_.clear();
    resize_code(0);
    recharge(Purpose::context, limits_charged_, 0);
    recharge(Purpose::context, local_charged_, 0);
    local_bytes_ = kStandardStack;
    stack_bytes_ = 0;
    limits_ = kStandardLimits;
    limits_changed_ = false;
}

}  // namespace simgpu
