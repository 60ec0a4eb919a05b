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
    pass,     ///< straight to the driver: the driver called itself, or isn't initialised (and reports that)
    managed,  ///< the hook does its work
    broken,   ///< the daemon couldn't be reached when the driver was initialised: refused
};

/// The process's one session with cgpu, from cuInit on.
class Session {
  public:
    /// Connects the session and starts its service, in kConnectTimeout at most. False: it failed.
    using Connect = bool (*)(Session&);
    static constexpr std::int64_t kConnectTimeout = 10 * kSecond;

    explicit constexpr Session(Connect connect) : connect_(connect) {}

    /// Call after a successful real cuInit: connects. Threads that call it at the same time wait for the
    /// first. kSuccess or kSystemNotReady; after a failure another cuInit may try again.
    CUresult start();

    Route route();
    /// Whether this process has its pages. Unlike route(), it begins nothing.
    [[nodiscard]] bool is_on() const {
        return phase_.load(std::memory_order_acquire) == kOn && !copy_mark_.is_copy();
    }

    EngineHandle& engine() { return engine_; }
    Link& link() { return link_; }
    const MappedPages& pages() const { return pages_; }
    std::uint64_t context_estimate() const { return context_estimate_; }

    std::uint32_t gpu_count() const { return gpu_count_; }
    /// Whether the driver shows the process one device only, and that is the instance's.
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

    /// Takes the pages and the engine of a Welcome, and finds the instance's GPUs. False: one of them isn't
    /// available.
    bool enter(const wire::Welcome& welcome, const std::array<int, 3>& files);
    /// The service thread has a Welcome of a new connection: takes its pages.
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

/// Created in start.cpp, at the top of the front, which knows how a session is connected.
Session& session();

}  // namespace cgpu::front
