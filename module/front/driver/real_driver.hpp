#pragma once

#include <atomic>

#include "module/front/driver/cuda_abi.hpp"
#include "module/front/driver/real_library.hpp"

/// The real driver's functions, looked up by name in the real file when first called (never from a
/// constructor: programs register fat binaries before ours could have run).
namespace cgpu::front {

namespace detail {
extern thread_local constinit int driver_depth __attribute__((tls_model("initial-exec")));
}

/// Whether a hook is called by the driver itself: this thread is inside a driver call made by a hook, and the
/// driver's calls to its own functions reach the front. Such calls pass unchanged.
///
/// The depth alone doesn't tell. A thread that leaves a driver call by siglongjmp keeps the depth of that
/// call, and its later calls must not pass for that.
inline bool inside_driver() { return detail::driver_depth != 0 && real_library_calls_front(); }

template <class Signature>
class RealFunction;

template <class... Arguments>
class RealFunction<CUresult(Arguments...)> {
  public:
    explicit constexpr RealFunction(const char* name) : name_(name) {}

    /// kNotFound if this driver has no such function, kSystemNotReady if its library isn't available.
    [[gnu::always_inline]] CUresult operator()(Arguments... arguments) const {
        const auto function = reinterpret_cast<CUresult (*)(Arguments...)>(address());
        if (function == nullptr) [[unlikely]]
            return why_missing();
        // Incrementing and decrementing in memory would make each call wait for the one before.
        const auto outer = detail::driver_depth;
        detail::driver_depth = outer + 1;
        const CUresult result = function(arguments...);
        detail::driver_depth = outer;
        return result;
    }

    /// For functions of the driver that call no other exported one.
    [[gnu::always_inline]] CUresult unguarded(Arguments... arguments) const {
        const auto function = reinterpret_cast<CUresult (*)(Arguments...)>(address());
        return function != nullptr ? function(arguments...) : why_missing();
    }

    /// Null if it hasn't been looked up yet.
    [[gnu::always_inline]] void* known_address() const { return address_.load(std::memory_order_relaxed); }

    [[gnu::always_inline]] void* address() const {
        void* found = address_.load(std::memory_order_acquire);
        return found != nullptr ? found : look_up();
    }

  private:
    [[gnu::noinline, gnu::cold]] static CUresult why_missing() {
        return has_real_library() ? kNotFound : kSystemNotReady;
    }

    [[gnu::noinline, gnu::cold]] void* look_up() const {
        void* found = real_address(name_);
        address_.store(found, std::memory_order_release);
        return found;
    }

    const char* name_;
    mutable std::atomic<void*> address_{nullptr};
};

namespace real {
#define CGPU_REAL(name, ...) inline constinit RealFunction<CUresult(__VA_ARGS__)> name{#name};
/// The driver's functions that the front itself calls, besides those that it hooks.
// clang-format off
#define CGPU_OWN_CALLS(call)                                    \
    call(cuInit, unsigned)                                      \
    call(cuDeviceGetCount, int*)                                \
    call(cuDeviceGet, CUdevice*, int)                           \
    call(cuDeviceGetUuid, CUuuid*, CUdevice)                    \
    call(cuCtxGetCurrent, CUcontext*)                           \
    call(cuCtxPushCurrent_v2, CUcontext)                        \
    call(cuCtxPopCurrent_v2, CUcontext*)                        \
    call(cuCtxGetDevice, CUdevice*)                             \
    call(cuDevicePrimaryCtxGetState, CUdevice, unsigned*, int*) \
    call(cuDeviceGetDefaultMemPool, CUmemoryPool*, CUdevice)    \
    call(cuDeviceGetMemPool, CUmemoryPool*, CUdevice)           \
    call(cuDeviceSetMemPool, CUdevice, CUmemoryPool)            \
    call(cuDeviceGetGraphMemAttribute, CUdevice, int, void*)    \
    call(cuDeviceGraphMemTrim, CUdevice)                        \
    call(cuMemPoolGetAttribute, CUmemoryPool, int, void*)       \
    call(cuMemPoolTrimTo, CUmemoryPool, std::size_t)            \
    call(cuMemPoolDestroy, CUmemoryPool)                        \
    call(cuThreadExchangeStreamCaptureMode, int*)               \
    call(cuStreamIsCapturing, CUstream, int*)                   \
    call(cuStreamGetCtx, CUstream, CUcontext*)                  \
    call(cuStreamQuery, CUstream)                               \
    call(cuEventCreate, CUevent*, unsigned)                     \
    call(cuEventDestroy_v2, CUevent)                            \
    call(cuEventRecord, CUevent, CUstream)                      \
    call(cuEventQuery, CUevent)                                 \
    call(cuEventElapsedTime, float*, CUevent, CUevent)
// clang-format on
CGPU_OWN_CALLS(CGPU_REAL)

/// Looks them all up. The front's own thread must not do that: a look-up waits for the loader's lock, and a
/// program that is just loading a library may hold it for long.
inline void look_up_own_calls() {
#define CGPU_LOOK_UP(name, ...) name.address();
    CGPU_OWN_CALLS(CGPU_LOOK_UP)
#undef CGPU_LOOK_UP
}
}  // namespace real

}  // namespace cgpu::front
