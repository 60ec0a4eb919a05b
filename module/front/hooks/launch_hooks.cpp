// Launches of kernels, all through the one gate.
#include "module/front/compute/gate.hpp"
#include "module/front/driver/hook.hpp"
#include "module/front/driver/stream_key.hpp"

using namespace cgpu::front;

namespace cgpu::front::real {
#define CGPU_GRID unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned
CGPU_REAL(cuLaunchKernel, CUfunction, CGPU_GRID, CUstream, void**, void**)
CGPU_REAL(cuLaunchKernel_ptsz, CUfunction, CGPU_GRID, CUstream, void**, void**)
CGPU_REAL(cuLaunchKernelEx, const CUlaunchConfig*, CUfunction, void**, void**)
CGPU_REAL(cuLaunchKernelEx_ptsz, const CUlaunchConfig*, CUfunction, void**, void**)
CGPU_REAL(cuLaunchCooperativeKernel, CUfunction, CGPU_GRID, CUstream, void**)
CGPU_REAL(cuLaunchCooperativeKernel_ptsz, CUfunction, CGPU_GRID, CUstream, void**)
CGPU_REAL(cuLaunchCooperativeKernelMultiDevice, CUlaunchParams*, unsigned, unsigned)
CGPU_REAL(cuLaunch, CUfunction)
CGPU_REAL(cuLaunchGrid, CUfunction, int, int)
CGPU_REAL(cuLaunchGridAsync, CUfunction, int, int, CUstream)
}  // namespace cgpu::front::real

namespace {

#if !defined(__x86_64__)
#error "Which arguments lie on the stack is told for x86-64 only"
#endif

/// The last five arguments of cuLaunchKernel as they are on the stack: one in each eightbyte (the ABI's class
/// MEMORY). Passed on as one object they stay where they are; passed one by one, the compiler loads and
/// stores them all.
struct OnStack {
    unsigned bz, unused1;
    unsigned shared, unused2;
    CUstream stream;
    void** parameters;
    void** extra;
};
using Launch = CUresult(CUfunction, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, OnStack);
using LaunchEx = CUresult(const CUlaunchConfig*, CUfunction, void** parameters, void** extra);

constexpr bool kOneKernel = true;  // Work::one_kernel

/// The short path of most launches where nothing is measured: a jump to the driver. Null: the launch must
/// pass the gate. (A driver that called one of our hooks from there would have a launch counted twice.) It
/// saves 4 to 6 ns of a launch: this path adds 1 to 2 ns to the driver's own time, and `gated` 5 to 8
/// (bench/launch).
template <class Signature, class Real>
[[gnu::always_inline]] inline Signature* freely(const Real& real, CUfunction function) {
    void* known = real.known_address();
    if (known == nullptr || !ThreadGrant::mine().takes_freely(function)) return nullptr;
    return reinterpret_cast<Signature*>(known);
}

// The other paths, separate from that jump.

[[gnu::noinline]] CUresult launch_kernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                         unsigned bx, unsigned by, OnStack rest) {
    return gated({function, rest.stream, nullptr, kOneKernel}, [&] {
        return real::cuLaunchKernel(function, gx, gy, gz, bx, by, rest.bz, rest.shared, rest.stream,
                                    rest.parameters, rest.extra);
    });
}

[[gnu::noinline]] CUresult launch_kernel_ptsz(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                              unsigned bx, unsigned by, OnStack rest) {
    return gated({function, per_thread(rest.stream), nullptr, kOneKernel}, [&] {
        return real::cuLaunchKernel_ptsz(function, gx, gy, gz, bx, by, rest.bz, rest.shared, rest.stream,
                                         rest.parameters, rest.extra);
    });
}

[[gnu::noinline]] CUresult launch_kernel_ex(const CUlaunchConfig* config, CUfunction function,
                                            void** parameters, void** extra) {
    const auto call = [&] { return real::cuLaunchKernelEx(config, function, parameters, extra); };
    return config == nullptr ? call() : gated({function, config->stream, nullptr, kOneKernel}, call);
}

[[gnu::noinline]] CUresult launch_kernel_ex_ptsz(const CUlaunchConfig* config, CUfunction function,
                                                 void** parameters, void** extra) {
    const auto call = [&] { return real::cuLaunchKernelEx_ptsz(config, function, parameters, extra); };
    return config == nullptr ? call()
                             : gated({function, per_thread(config->stream), nullptr, kOneKernel}, call);
}

/// One launch on several devices passes the gate of each, and is then made once.
CUresult launch_on_all(CUlaunchParams* list, unsigned count, unsigned flags, unsigned next) {
    if (list == nullptr || next >= count)
        return real::cuLaunchCooperativeKernelMultiDevice(list, count, flags);
    Work work{list[next].function, list[next].stream, nullptr};
    real::cuStreamGetCtx(list[next].stream, &work.context);
    return gated(work, [&] { return launch_on_all(list, count, flags, next + 1); });
}

}  // namespace

CGPU_HOOK cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                         OnStack rest) {
    if (const auto real = freely<Launch>(real::cuLaunchKernel, function))
        return real(function, gx, gy, gz, bx, by, rest);
    return launch_kernel(function, gx, gy, gz, bx, by, rest);
}

CGPU_HOOK cuLaunchKernel_ptsz(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, OnStack rest) {
    if (const auto real = freely<Launch>(real::cuLaunchKernel_ptsz, function))
        return real(function, gx, gy, gz, bx, by, rest);
    return launch_kernel_ptsz(function, gx, gy, gz, bx, by, rest);
}

CGPU_HOOK cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                           void** extra) {
    if (const auto real = freely<LaunchEx>(real::cuLaunchKernelEx, function))
        return real(config, function, parameters, extra);
    return launch_kernel_ex(config, function, parameters, extra);
}

CGPU_HOOK cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                                void** extra) {
    if (const auto real = freely<LaunchEx>(real::cuLaunchKernelEx_ptsz, function))
        return real(config, function, parameters, extra);
    return launch_kernel_ex_ptsz(config, function, parameters, extra);
}

CGPU_HOOK cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                    unsigned by, unsigned bz, unsigned shared, CUstream stream,
                                    void** parameters) {
    return gated({function, stream, nullptr}, [&] {
        return real::cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters);
    });
}

CGPU_HOOK cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                         unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                         CUstream stream, void** parameters) {
    return gated({function, per_thread(stream), nullptr}, [&] {
        return real::cuLaunchCooperativeKernel_ptsz(function, gx, gy, gz, bx, by, bz, shared, stream,
                                                    parameters);
    });
}

CGPU_HOOK cuLaunchCooperativeKernelMultiDevice(CUlaunchParams* list, unsigned count, unsigned flags) {
    // The driver refuses more launches than there are devices without reading them: so must the hook.
    int devices = 0;
    if (real::cuDeviceGetCount(&devices) != kSuccess || count > static_cast<unsigned>(devices))
        return real::cuLaunchCooperativeKernelMultiDevice(list, count, flags);
    return launch_on_all(list, count, flags, 0);
}

CGPU_HOOK cuLaunch(CUfunction function) {
    return gated({function, nullptr, nullptr}, [&] { return real::cuLaunch(function); });
}

CGPU_HOOK cuLaunchGrid(CUfunction function, int width, int height) {
    return gated({function, nullptr, nullptr}, [&] { return real::cuLaunchGrid(function, width, height); });
}

CGPU_HOOK cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    return gated({function, stream, nullptr},
                 [&] { return real::cuLaunchGridAsync(function, width, height, stream); });
}
