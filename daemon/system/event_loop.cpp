#include "daemon/system/event_loop.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

namespace cgpu::system {
namespace {

constexpr app::Nanos kNever = std::numeric_limits<app::Nanos>::max();

void check(int result, const char* what) {
    if (result < 0) throw std::system_error(-result, std::generic_category(), what);
}

/// sd-event counts in microseconds; rounding up keeps "at or after".
std::uint64_t to_usec(app::Nanos when) {
    if (when == kNever) return std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(std::max<app::Nanos>(0, when) + 999) / 1000;
}

class Source : public app::Watch {
  public:
    ~Source() override {
        for (auto* source : {main_, timer_})
            if (source) sd_event_source_disable_unref(source);
    }
    sd_event_source* main_ = nullptr;
    sd_event_source* timer_ = nullptr;
};

// A callback may destroy its own watch, so it is copied before it is called.
template <class F>
struct CallSource final : Source {
    explicit CallSource(F f) : call(std::move(f)) {}
    F call;
};

using IoSource = CallSource<std::function<void(std::uint32_t)>>;
using PlainSource = CallSource<std::function<void()>>;

struct AskingSource final : Source {
    std::function<app::Loop::Wanted()> wanted;
    std::function<void()> dispatch;
};

int io_ready(sd_event_source*, int, std::uint32_t events, void* data) {
    auto call = static_cast<IoSource*>(data)->call;
    call(events);
    return 0;
}

int plain_timer(sd_event_source*, std::uint64_t, void* data) {
    auto call = static_cast<PlainSource*>(data)->call;
    call();
    return 0;
}

int plain_signal(sd_event_source*, const signalfd_siginfo*, void* data) {
    auto call = static_cast<PlainSource*>(data)->call;
    call();
    return 0;
}

int asking_ready(sd_event_source*, int, std::uint32_t, void* data) {
    auto dispatch = static_cast<AskingSource*>(data)->dispatch;
    dispatch();
    return 0;
}

int asking_timer(sd_event_source*, std::uint64_t, void* data) { return asking_ready(nullptr, 0, 0, data); }

int asking_prepare(sd_event_source*, void* data) {
    auto& source = *static_cast<AskingSource*>(data);
    const auto wanted = source.wanted();
    check(sd_event_source_set_io_events(source.main_, wanted.events), "sd_event_source_set_io_events");
    check(sd_event_source_set_time(source.timer_, to_usec(wanted.deadline)), "sd_event_source_set_time");
    return sd_event_source_set_enabled(source.timer_,
                                       wanted.deadline == kNever ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

}  // namespace

EventLoop::EventLoop() {
    check(sd_event_new(&event_), "sd_event_new");
    wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    wake_ = watch(wake_fd_, EPOLLIN, [this](std::uint32_t) { run_posted(); });
    // The descriptor behind all timers is created with the first timer: create it now, while descriptors are
    // left.
    at(kNever, [] {});
}

EventLoop::~EventLoop() {
    wake_.reset();
    close(wake_fd_);
    sd_event_unref(event_);
}

app::WatchPtr EventLoop::watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> call) {
    auto source = std::make_unique<IoSource>(std::move(call));
    check(sd_event_add_io(event_, &source->main_, fd, events, io_ready, source.get()), "sd_event_add_io");
    return source;
}

app::WatchPtr EventLoop::watch_asking(int fd, std::function<Wanted()> wanted,
                                      std::function<void()> dispatch) {
    auto source = std::make_unique<AskingSource>();
    source->wanted = std::move(wanted);
    source->dispatch = std::move(dispatch);
    check(sd_event_add_io(event_, &source->main_, fd, EPOLLIN, asking_ready, source.get()),
          "sd_event_add_io");
    check(sd_event_add_time(event_, &source->timer_, CLOCK_MONOTONIC, to_usec(kNever), 1, asking_timer,
                            source.get()),
          "sd_event_add_time");
    check(sd_event_source_set_prepare(source->main_, asking_prepare), "sd_event_source_set_prepare");
    return source;
}

app::WatchPtr EventLoop::at(app::Nanos when, std::function<void()> call) {
    auto source = std::make_unique<PlainSource>(std::move(call));
    check(sd_event_add_time(event_, &source->main_, CLOCK_MONOTONIC, to_usec(when), 1, plain_timer,
                            source.get()),
          "sd_event_add_time");
    return source;
}

void EventLoop::post(std::function<void()> call) {
    {
        const std::lock_guard lock(posted_mutex_);
        posted_.push_back(std::move(call));
    }
    const std::uint64_t one = 1;
    // A full counter wakes the loop as well, so a failed write loses nothing.
    [[maybe_unused]] const auto written = write(wake_fd_, &one, sizeof one);
}

void EventLoop::run_posted() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = read(wake_fd_, &count, sizeof count);
    std::vector<std::function<void()>> calls;
    {
        const std::lock_guard lock(posted_mutex_);
        calls.swap(posted_);
    }
    for (auto& call : calls) call();
}

app::Nanos EventLoop::now() const {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return app::Nanos{time.tv_sec} * app::kSecond + time.tv_nsec;
}

void EventLoop::block(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    check(-pthread_sigmask(SIG_BLOCK, &set, nullptr), "pthread_sigmask");
}

EndedBySignals::EndedBySignals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &set, &before_);
}

EndedBySignals::~EndedBySignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

app::WatchPtr EventLoop::on_signal(int signal, std::function<void()> call) {
    auto source = std::make_unique<PlainSource>(std::move(call));
    check(sd_event_add_signal(event_, &source->main_, signal, plain_signal, source.get()),
          "sd_event_add_signal");
    return source;
}

void EventLoop::keep_watchdog() { check(sd_event_set_watchdog(event_, 1), "sd_event_set_watchdog"); }

int EventLoop::run() {
    const int result = sd_event_loop(event_);
    check(result, "sd_event_loop");
    return result;
}

void EventLoop::stop(int status) { check(sd_event_exit(event_, status), "sd_event_exit"); }

}  // namespace cgpu::system
