#pragma once

#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "tests/sim/driver/base/abi.hpp"

namespace simgpu {

enum class Purpose;
struct Function;
struct Module;
class Process;

/// What a context takes of its GPU beyond its fixed cost: the code of its modules, together in whole blocks,
/// the memory that its limits require, and the local memory of its kernels.
class ContextMemory {
  public:
    ContextMemory(const Process& process, std::uint32_t gpu) : process_(process), gpu_(gpu) {}

    /// All of it is needed for a launch. @return CUDA_ERROR_OUT_OF_MEMORY: the card has no room.
    CUresult prepare(const Function& function);
    /// Nothing if the module is there.
    CUresult load(const Module& module);
    /// The same, with what the function needs of each stack.
    CUresult load(const Function& function);
    void unload(const Module& module);

    std::size_t limit(CUlimit limit) const;
    /// Memory for it is taken at the next launch.
    void set_limit(CUlimit limit, std::size_t value);

    /// At the context's end everything is freed, and the limits are reset.
    void clear();

  private:
    CUresult apply_limits();
    CUresult take_local(std::uint64_t local_bytes, std::uint64_t stack_bytes);
    bool recharge(Purpose purpose, std::uint64_t& charged, std::uint64_t bytes) const;
    bool resize_code(std::uint64_t bytes);

    using Limits = std::array<std::size_t, CU_LIMIT_MAX>;
    static constexpr Limits kStandardLimits{1024, 1U << 20, 8U << 20, 2, 2048, 64};
    static constexpr std::uint64_t kStandardStack = kStandardLimits[0];

    const Process& process_;
    std::uint32_t gpu_;
    std::atomic<const Module*> latest_{nullptr};  ///< Was loaded: most launches ask for the same again.
    std::atomic<bool> limits_changed_{false};
    mutable std::mutex mutex_;
    std::map<const Module*, std::uint64_t> code_;
    std::uint64_t code_bytes_ = 0;
    std::uint64_t code_charged_ = 0;
    Limits limits_ = kStandardLimits;
    std::uint64_t limits_charged_ = 0;
    /// A thread: the most that a kernel launched here has.
    std::atomic<std::uint64_t> local_bytes_{kStandardStack};
    /// The same: what was added to all stacks.
    std::atomic<std::uint64_t> stack_bytes_{0};
    std::uint64_t local_charged_ = 0;
};

}  // namespace simgpu
