#include "module/front/process/service_thread.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>

#include "module/front/base/errands.hpp"
#include "module/front/base/thread.hpp"
#include "module/front/compute/reap.hpp"
#include "module/front/lease/gives.hpp"
#include "module/front/lease/physical.hpp"
#include "module/front/lease/pool_frees.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/lease/shared_memory.hpp"
#include "module/front/process/switcher.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kHeartbeat = kSecond;
constexpr std::int64_t kFirstBackoff = 20 * kMillisecond;
constexpr std::int64_t kLongestBackoff = 100 * kMillisecond;
constexpr std::int64_t kGreetingTimeout = 10 * kSecond;
/// Lease kept when memory is returned, so that a program that allocates and frees small things doesn't ask
/// each time.
constexpr std::uint64_t kKeepBytes = 16 * wire::kGranule;
constexpr unsigned long kTimerSlack = 5000;  // ns; the default of 50 µs is as long as a short kernel

constinit ServiceThread the_service_thread;

// The thread must have left the driver before the driver's own destructors run. Those of its static objects
// run among the exit handlers, the last registered first: ours is registered when the driver is loaded.
void leave_driver_at_exit() {
    static constinit std::atomic<bool> registered{false};
    if (!registered.exchange(true)) std::atexit([] { the_service_thread.leave_driver(); });
}

// Others run with the destructors of libraries; ours come first, because this library depends on the driver.
__attribute__((destructor)) void at_exit() { the_service_thread.finish(); }

}  // namespace

ServiceThread& service_thread() { return the_service_thread; }

bool ServiceThread::start() {
    if (running_.exchange(true)) return true;
    connected_ = true;
    errands().open();
    leave_driver_at_exit();
    const bool made = start_thread(run, this);
    if (!made) running_.store(false);
    return made;
}

void ServiceThread::finish() {
    finishing_.store(true);
    leave_driver();
}

void ServiceThread::leave_driver() {
    leaves_driver_.store(true);
    const auto until = now_ns() + kSecond;
    while (in_driver_.load() && now_ns() < until) sleep_until(now_ns() + 50 * kMicrosecond);
}

void* ServiceThread::run(void* self) {
    prctl(PR_SET_NAME, "cgpu");
    prctl(PR_SET_TIMERSLACK, kTimerSlack);
    static_cast<ServiceThread*>(self)->loop();
    return nullptr;
}

void ServiceThread::loop() {
    while (!finishing_.load()) {
        errands().begin_look();
        const auto now = now_ns();
        look_after_link(now);
        give_back(now);
        tell_moved(now);
        in_driver_.store(true);
        auto next = now + kHeartbeat;
        if (!leaves_driver_.load())
            next = std::min({next, look_after_batches(now), pool_frees().settle_done(now)});
        in_driver_.store(false);
        const Descriptor socket = greeting_ ? candidate_ : session().link().socket();
        if (errands().sleep(connected_ ? next : std::min(next, reconnect_at_), socket.usable())) read_link();
    }
}

void ServiceThread::look_after_link(std::int64_t now) {
    if (connected_ && !session().link().connected()) connection_lost(now);
    if (connected_ || now < reconnect_at_) return;
    if (greeting_) {  // connected, but the daemon kept silent
        greeting_ = false;
        candidate_.close();
    }
    if (open_link(wire::Role::compute, candidate_) == Opened::done) {
        greeting_ = true;
        reconnect_at_ = now + kGreetingTimeout;
        return;
    }
    backoff_ns_ = std::clamp(backoff_ns_ * 2, kFirstBackoff, kLongestBackoff);
    reconnect_at_ = now + backoff_ns_;
}

void ServiceThread::connection_lost(std::int64_t now) {
    if (greeting_) candidate_.close();
    if (connected_) {
        session().link().detach();
        session().unbind();
    }
    connected_ = false;
    greeting_ = false;
    backoff_ns_ = std::clamp(backoff_ns_ * 2, kFirstBackoff, kLongestBackoff);
    reconnect_at_ = now + backoff_ns_;
}

void ServiceThread::read_link() {
    while (true) {
        Packet packet;
        const Received received = receive_packet(greeting_ ? candidate_ : session().link().socket(), packet);
        if (received == Received::nothing) return;
        if (received == Received::lost) {
            connection_lost(now_ns());
            return;
        }
        handle(packet);
        drop_files(packet);
        if (!connected_ && !greeting_) return;
    }
}

void ServiceThread::handle(Packet& packet) {
    if (const auto answer = wire::read_message<wire::Answer>(packet.data())) {
        // The lease is added here and not by the asking thread, which may have given up.
        if (Link::topic_of(answer->header.request) == wire::Topic::lease && answer->granted_bytes != 0 &&
            answer->gpu < session().gpu_count()) {
            session().engine().lease(answer->gpu, answer->granted_bytes);
        }
        const auto topic = Link::topic_of(answer->header.request);
        // The asking thread has given up: the thing will not be made.
        if (!session().link().deliver(*answer) && answer->why == wire::Why::none &&
            (topic == wire::Topic::context || topic == wire::Topic::load))
            session().link().tell(wire::Topic::not_made, answer->gpu, answer->granted_bytes);
    } else if (const auto recall = wire::read_message<wire::Recall>(packet.data())) {
        if (recall->gpu >= session().gpu_count()) return;
        look_at_pools(static_cast<int>(recall->gpu));
        gives().answer(*recall);
    } else if (const auto welcome = wire::read_message<wire::Welcome>(packet.data())) {
        if (!greeting_ || !session().rebind(packet.files) || !tell_leases()) return connection_lost(now_ns());
        session().link().attach(candidate_);
        shared_memory().tell_again();
        gives().tell_exports_again();
        candidate_ = Descriptor{};
        greeting_ = false;
        connected_ = true;
        backoff_ns_ = 0;
        // The Welcome may have named another engine than the one that runs here: the front reports its own.
        session().link().tell_engine(session().engine().running());
    } else if (const auto order = wire::read_message<wire::Switch>(packet.data())) {
        switcher().carry_out(*order);
    } else if (wire::read_message<wire::Refused>(packet.data())) {
        connection_lost(now_ns());
    }
}

/// A driver trims pools at the program's synchronisations without any notification.
void ServiceThread::look_at_pools(int gpu) {
    in_driver_.store(true);
    if (pools().any(gpu) && !leaves_driver_.load()) pools().look_at_all(gpu);
    in_driver_.store(false);
}

/// A grant or a Give that was in transit when the connection broke has reached one side only.
bool ServiceThread::tell_leases() {
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu)
        if (Link::tell_lease(candidate_, gpu, session().engine().leased(gpu)) != Sent::done) return false;
    return true;
}

void ServiceThread::give_back(std::int64_t now) {
    if (!errands().take_free(now) || !connected_) return;
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu) gives().give(gpu, UINT64_MAX, kKeepBytes);
}

void ServiceThread::tell_moved(std::int64_t now) {
    // While the daemon is away this message is lost: it queries the driver again for processes that
    // reconnect.
    const auto moved = errands().take_moved(now);
    for (std::uint32_t gpu = 0; gpu < session().gpu_count(); ++gpu)
        if ((moved >> gpu & 1) != 0) session().link().tell(wire::Topic::moved, gpu);
}

void ServiceThread::reset_in_child() {
    candidate_.close();
    running_.store(false);
    in_driver_.store(false);
    connected_ = greeting_ = false;
}

}  // namespace cgpu::front
