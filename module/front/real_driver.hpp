#pragma once

#include <atomic>

#include "module/front/cuda_abi.hpp"

/// The real driver's functions, looked up by name in the real file when first called (never from a
/// constructor: programs register fat binaries before ours could have run).
namespace cgpu::front {

/// The address of a function of the real driver; null where this driver has none.
void* real_address(const char* name);

namespace detail {
extern thread_local int driver_depth __attribute__((tls_model("initial-exec")));
}

/// Whether this thread is inside a real driver call made by a hook. The driver may call its own exported
/// functions and so come back to us; such calls are its own business and pass unchanged.
inline bool inside_driver() { return detail::driver_depth != 0; }

template <class Signature>
class RealFunction;

template <class... Arguments>
class RealFunction<CUresult(Arguments...)> {
  public:
    explicit constexpr RealFunction(const char* name) : name_(name) {}

    /// kNotFound where this driver has no such function.
    CUresult operator()(Arguments... arguments) const {
        const auto function = reinterpret_cast<CUresult (*)(Arguments...)>(address());
        if (function == nullptr) return kNotFound;
        ++detail::driver_depth;
        const CUresult result = function(arguments...);
        --detail::driver_depth;
        return result;
    }

    void* address() const {
        void* found = address_.load(std::memory_order_acquire);
        if (found == nullptr) {
            found = real_address(name_);
            address_.store(found, std::memory_order_release);
        }
        return found;
    }

  private:
    const char* name_;
    mutable std::atomic<void*> address_{nullptr};
};

/// What the front itself needs of the driver, besides what it hooks.
namespace real {
#define CGPU_REAL(name, ...) inline constinit RealFunction<CUresult(__VA_ARGS__)> name{#name};
CGPU_REAL(cuInit, unsigned)
CGPU_REAL(cuDeviceGetCount, int*)
CGPU_REAL(cuDeviceGet, CUdevice*, int)
CGPU_REAL(cuDeviceGetUuid, CUuuid*, CUdevice)
CGPU_REAL(cuCtxGetCurrent, CUcontext*)
CGPU_REAL(cuCtxPushCurrent_v2, CUcontext)
CGPU_REAL(cuCtxPopCurrent_v2, CUcontext*)
CGPU_REAL(cuCtxGetDevice, CUdevice*)
CGPU_REAL(cuDevicePrimaryCtxGetState, CUdevice, unsigned*, int*)
CGPU_REAL(cuDeviceGetDefaultMemPool, CUmemoryPool*, CUdevice)
CGPU_REAL(cuThreadExchangeStreamCaptureMode, int*)
CGPU_REAL(cuStreamIsCapturing, CUstream, int*)
CGPU_REAL(cuStreamGetCtx, CUstream, CUcontext*)
CGPU_REAL(cuEventCreate, CUevent*, unsigned)
CGPU_REAL(cuEventDestroy_v2, CUevent)
CGPU_REAL(cuEventRecord, CUevent, CUstream)
CGPU_REAL(cuEventQuery, CUevent)
CGPU_REAL(cuEventElapsedTime, float*, CUevent, CUevent)
}  // namespace real

}  // namespace cgpu::front
