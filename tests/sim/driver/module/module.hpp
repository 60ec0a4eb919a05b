#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/base/tagged.hpp"
#include "tests/sim/driver/module/kernel.hpp"

namespace simgpu {

struct Module;

/// A kernel of one module; CUfunction and CUkernel alike.
struct Function : Tagged<0x6e6f6974636e7566ULL> {
    Function(const Kernel& known_kernel, std::string asked_name, Module& owner)
        : kernel(known_kernel),
          name(std::move(asked_name)),
          module(owner),
          local_bytes(simgpu::local_bytes(name)),
          stack_bytes(simgpu::stack_bytes(name)) {}
    const Kernel& kernel;
    std::string name;
    Module& module;
    const std::uint64_t local_bytes;  ///< A thread.
    const std::uint64_t stack_bytes;  ///< A thread, on top of that.
};

/// A loaded image, of which only the size is read: it has every kernel that the simulator knows. CUmodule and
/// CUlibrary alike.
struct Module : Tagged<0x656c75646f6dULL> {
    explicit Module(std::uint64_t bytes) : image_bytes(bytes) {}
    const std::uint64_t image_bytes;

    /// @return nullptr: no kernel has that name.
    Function* function(const std::string& name);

  private:
    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Function>> functions_;
};

inline Function* Module::function(const std::string& name) {
    const Kernel* kernel = find_kernel(name);
    if (!kernel) return nullptr;
    const std::lock_guard lock(mutex_);
    auto& function = functions_[name];
    if (!function) function = std::make_unique<Function>(*kernel, name, *this);
    return function.get();
}

}  // namespace simgpu
