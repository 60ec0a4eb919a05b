#include "module/front/session/session.hpp"

#include <cstring>

#include "module/front/driver/real_driver.hpp"

namespace cgpu::front {

CUresult Session::start() {
    const Uncancelled uncancelled;
    const auto give_up = now_ns() + kConnectTimeout + kSecond;
    while (true) {
        auto phase = phase_.load();
        if (phase == kOn) return kSuccess;
        if (phase == kStarting) {
            if (now_ns() > give_up) return kSystemNotReady;
            futex_wait(&phase_, kStarting, give_up);
            continue;
        }
        if (!phase_.compare_exchange_strong(phase, kStarting)) continue;
        copy_mark_.set();
        const bool done = connect_(*this);
        phase_.store(done ? kOn : kBroken);
        futex_wake_all(&phase_);
        return done ? kSuccess : kSystemNotReady;
    }
}

bool Session::enter(const wire::Welcome& welcome, const std::array<int, 3>& files) {
    if (!pages_.map(files) || !find_gpus() || !(engine_.loaded() || engine_.load(welcome.engine)))
        return false;
    context_estimate_ = welcome.context_estimate_bytes;
    engine_.bind(pages_.orders(), pages_.reports());
    return true;
}

bool Session::find_gpus() {
    gpu_of_device_.fill(kForeignGpu);
    device_of_gpu_.fill(-1);
    gpu_count_ = pages_.orders()->gpu_count;
    int devices = 0;
    if (real::cuDeviceGetCount(&devices) != kSuccess) return false;
    for (int ordinal = 0; ordinal < devices && ordinal < kMaxDevices; ++ordinal) {
        CUdevice device = 0;
        CUuuid uuid{};
        if (real::cuDeviceGet(&device, ordinal) != kSuccess) continue;
        if (device < 0 || device >= kMaxDevices || real::cuDeviceGetUuid(&uuid, device) != kSuccess) continue;
        for (std::uint32_t gpu = 0; gpu < gpu_count_; ++gpu) {
            if (std::memcmp(uuid.bytes, pages_.orders()->gpus[gpu].uuid, sizeof uuid.bytes) != 0) continue;
            gpu_of_device_[static_cast<std::size_t>(device)] = static_cast<std::int8_t>(gpu);
            device_of_gpu_[gpu] = device;
        }
    }
    has_one_device_ = devices == 1 && gpu_of_device_[0] != kForeignGpu;
    return true;
}

Route Session::route() {
    if (inside_driver()) return Route::pass;
    if (is_on()) return Route::managed;
    return route_slowly();
}

Route Session::route_slowly() {
    // A driver that nobody has initialised reports that itself. One that was initialised without our cuInit
    // (by a private table of its own) doesn't, so the session is started here.
    int devices = 0;
    if (phase_.load() == kUntouched && real::cuDeviceGetCount(&devices) == kNotInitialized)
        return Route::pass;
    const bool connected_elsewhere = phase_.load() == kOn && copy_mark_.is_copy();
    if (phase_.load() == kBroken || connected_elsewhere) return Route::broken;
    return start() == kSuccess ? Route::managed : Route::broken;
}

bool Session::isolates(int gpu) const {
    return gpu >= 0 && pages_.orders()->gpus[gpu].isolate_memory.load(std::memory_order_relaxed) != 0;
}

bool Session::rebind(const std::array<int, 3>& files) {
    if (!pages_.map(files)) return false;
    engine_.bind(pages_.orders(), pages_.reports());
    return true;
}

void Session::reset_in_child() {
    link_.reset_in_child();
    pages_.forget();
    engine_.reset_in_child();
    phase_.store(kUntouched);
}

}  // namespace cgpu::front
