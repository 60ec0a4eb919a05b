#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <vector>

#include <signal.h>

#include "daemon/app/ports/loop.hpp"

struct sd_event;
struct sd_event_source;

namespace cgpu::system {

/// app::Loop on sd-event. Throws std::system_error if the kernel has no descriptors left at construction.
class EventLoop final : public app::Loop {
  public:
    EventLoop();
    ~EventLoop() override;
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    app::WatchPtr watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> call) override;
    app::WatchPtr watch_asking(int fd, std::function<Wanted()> wanted,
                               std::function<void()> dispatch) override;
    app::WatchPtr at(app::Nanos when, std::function<void()> call) override;
    void post(std::function<void()> call) override;
    app::Nanos now() const override;

    /// Blocks these signals in every thread that is created afterwards. Call before the first thread is
    /// created: a signal goes to any thread that doesn't block it, and would never reach the loop.
    static void block(std::initializer_list<int> signals);
    /// Calls back on the loop for a signal that was blocked.
    app::WatchPtr on_signal(int signal, std::function<void()> call);
    /// Notifies systemd's watchdog (WatchdogSec=) from the loop, as long as the loop runs.
    void keep_watchdog();

    /// Runs until stop(). Returns the status passed to stop().
    int run();
    void stop(int status);

  private:
    void run_posted();

    sd_event* event_ = nullptr;
    int wake_fd_ = -1;
    app::WatchPtr wake_;
    std::mutex posted_mutex_;
    std::vector<std::function<void()>> posted_;
};

/// While it lives, SIGTERM and SIGINT end the process at once, though they were blocked: for what the thread
/// reads before the loop runs, because a disk may never answer. Threads that are created meanwhile would get
/// them, too.
class EndedBySignals {
  public:
    EndedBySignals();
    ~EndedBySignals();
    EndedBySignals(const EndedBySignals&) = delete;
    EndedBySignals& operator=(const EndedBySignals&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace cgpu::system
