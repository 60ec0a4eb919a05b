#include "module/front/session.hpp"

#include <cstring>

#include "module/front/connection.hpp"
#include "module/front/fork.hpp"
#include "module/front/real_driver.hpp"
#include "module/front/service.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kStartTimeout = 10 * kSecond;

constinit Session the_session;

}  // namespace

Session& session() { return the_session; }

CUresult Session::start() {
    const Uncancelled uncancelled;
    const auto give_up = now_ns() + kStartTimeout + kSecond;
    while (true) {
        auto phase = phase_.load();
        if (phase == kOn) return kSuccess;
        if (phase == kStarting) {
            if (now_ns() > give_up) return kSystemNotReady;
            futex_wait(&phase_, kStarting, give_up);
            continue;
        }
        if (!phase_.compare_exchange_strong(phase, kStarting)) continue;
        const bool done = connect_and_load();
        phase_.store(done ? kOn : kBroken);
        futex_wake_all(&phase_);
        return done ? kSuccess : kSystemNotReady;
    }
}

bool Session::connect_and_load() {
    reset_in_forked_children();
    copy_mark_.set();
    Descriptor socket;
    wire::Welcome welcome{};
    Packet packet;
    if (greet(wire::Role::compute, now_ns() + kStartTimeout, socket, welcome, packet) != Greeted::answered) {
        return false;
    }
    const bool mapped = pages_.map(packet.files);
    drop_files(packet);
    if (mapped && find_gpus() && (engine_.loaded() || engine_.load(welcome.engine))) {
        context_estimate_ = welcome.context_estimate_bytes;
        engine_.bind(pages_.orders(), pages_.reports());
        link_.attach(socket, welcome.version);
        link_.tell_engine(engine_.running());
        // After an exec this is the same process to the daemon: what the program before had goes back.
        for (std::uint32_t gpu = 0; gpu < gpu_count_; ++gpu) {
            link_.give(gpu, UINT64_MAX);
            link_.tell(wire::Topic::context_gone, gpu);
        }
        real::look_up_own_calls();
        if (service().start()) return true;
        engine_.bind(nullptr, nullptr);
        link_.detach();
        return false;
    }
    auto notice = wire::make_message<wire::Notice>();
    notice.event = wire::Event::engine_failed;
    wire::put_text(notice.detail, welcome.engine);
    send_message(socket, notice);
    socket.close();
    return false;
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
    if (phase_.load(std::memory_order_acquire) == kOn && !copy_mark_.is_copy()) return Route::managed;
    return route_slowly();
}

Route Session::route_slowly() {
    // A driver that was initialised by another way than our cuInit (a private table of its own) gets no
    // further than one that was.
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
