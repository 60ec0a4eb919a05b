#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "module/front/base/copy_mark.hpp"
#include "module/front/driver/cuda_abi.hpp"
#include "module/front/link/link.hpp"
#include "module/front/link/mapped_pages.hpp"
#include "module/front/swap/engine.hpp"

namespace cgpu::front {

/// No GPU of the instance.
constexpr int kForeignGpu = -1;
constexpr int kMaxDevices = 64;

/// What a hook does with a call.
enum class Route {
    pass,     ///< straight to the driver: the driver called itself, or isn't initialised (it says so itself)
    managed,  ///< what the hook is there for
    broken,   ///< the daemon couldn't be had when the driver was initialised: nothing may be made
};

/// The process's one connection with cGPU, from cuInit on.
class Session {
  public:
    /// Connects the session and starts what serves it, in kConnectTimeout at most. False: it came to nothing.
    using Connect = bool (*)(Session&);
    static constexpr std::int64_t kConnectTimeout = 10 * kSecond;

    explicit constexpr Session(Connect connect) : connect_(connect) {}

    /// After a successful real cuInit: connects. Threads that come at
    /// the same time wait for the first. kSuccess or kSystemNotReady; what failed may be tried again by
    /// another cuInit.
    CUresult start();

    Route route();

    EngineHandle& engine() { return engine_; }
    Link& link() { return link_; }
    const MappedPages& pages() const { return pages_; }
    std::uint64_t context_estimate() const { return context_estimate_; }

    std::uint32_t gpu_count() const { return gpu_count_; }
    /// Whether the driver shows the process one device, and that is the instance's.
    bool has_one_device() const { return has_one_device_; }
    /// The instance's GPU behind a CUdevice, or kForeignGpu.
    int gpu_of(CUdevice device) const {
        return device >= 0 && device < kMaxDevices ? gpu_of_device_[static_cast<std::size_t>(device)]
                                                   : kForeignGpu;
    }
    CUdevice device_of(std::uint32_t gpu) const { return device_of_gpu_[gpu]; }
    bool isolates(int gpu) const;
    std::uint64_t limit_bytes(std::uint32_t gpu) const {
        return pages_.orders()->gpus[gpu].limit_bytes.load();
    }

    /// Takes a Welcome's pages and the engine that it names, and finds the instance's GPUs. False: one of
    /// that can't be had.
    bool enter(const wire::Welcome& welcome, const std::array<int, 3>& files);
    /// The service thread has a Welcome of a new connection: takes its pages over.
    bool rebind(const std::array<int, 3>& files);
    /// The connection is gone.
    void unbind() { engine_.bind(nullptr, nullptr); }

    void reset_in_child();

  private:
    enum Phase : std::uint32_t { kUntouched, kStarting, kOn, kBroken };

    bool find_gpus();
    Route route_slowly();

    Connect connect_;
    std::atomic<std::uint32_t> phase_{kUntouched};
    CopyMark copy_mark_;
    EngineHandle engine_;
    MappedPages pages_;
    Link link_;
    std::uint64_t context_estimate_ = 0;
    std::uint32_t gpu_count_ = 0;
    bool has_one_device_ = false;
    std::array<std::int8_t, kMaxDevices> gpu_of_device_{};
    std::array<CUdevice, wire::kMaxGpus> device_of_gpu_{};
};

/// Made in start.cpp, on top of the front, which knows how a session is connected.
Session& session();

}  // namespace cgpu::front
