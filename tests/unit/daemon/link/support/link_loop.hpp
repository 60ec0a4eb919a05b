#pragma once

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "daemon/app/ports/loop.hpp"

namespace cgpu::link::test {

/// app::Loop by poll(2), on the real clock; runs as long as a test waits for something.
class PollLoop final : public app::Loop {
  public:
    app::WatchPtr watch(int fd, std::uint32_t events, std::function<void(std::uint32_t)> call) override {
        watched_[++last_] = {fd, static_cast<short>(events), std::move(call)};
        return std::make_unique<Handle>(*this, last_);
    }
    app::WatchPtr watch_asking(int, std::function<Wanted()>, std::function<void()>) override {
        return nullptr;
    }
    app::WatchPtr at(app::Nanos when, std::function<void()> call) override {
        timers_[++last_] = {when, std::move(call)};
        return std::make_unique<Handle>(*this, last_);
    }
    void post(std::function<void()> call) override { posted_.push_back(std::move(call)); }
    app::Nanos now() const override {
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC, &time);
        return app::Nanos{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }

    /// False: it didn't become true within the seconds.
    template <class Condition>
    bool run_until(Condition condition, int seconds = 20) {
        const auto end = now() + app::Nanos{seconds} * 1'000'000'000;
        while (!condition()) {
            if (now() > end) return false;
            turn();
        }
        return true;
    }
    /// Runs some turns, until nothing is ready at once.
    void settle() {
        while (turn(0)) {
        }
    }

  private:
    struct Watched {
        int fd;
        short events;
        std::function<void(std::uint32_t)> call;
    };
    struct Handle final : app::Watch {
        Handle(PollLoop& its_loop, int its_key) : loop(its_loop), key(its_key) {}
        ~Handle() override {
            loop.watched_.erase(key);
            loop.timers_.erase(key);
        }
        PollLoop& loop;
        int key;
    };

    /// Whether anything happened.
    bool turn(int milliseconds = 1) {
        bool did = false;
        auto posted = std::exchange(posted_, {});
        for (const auto& call : posted) call();
        did |= !posted.empty();
        std::vector<int> due;
        for (const auto& [key, timer] : timers_)
            if (timer.first <= now()) due.push_back(key);
        for (const int key : due) {
            const auto found = timers_.find(key);
            if (found == timers_.end()) continue;
            const auto call = std::move(found->second.second);
            timers_.erase(found);
            call();
            did = true;
        }
        std::vector<pollfd> polled;
        std::vector<int> keys;
        for (const auto& [key, watched] : watched_) {
            polled.push_back({watched.fd, watched.events, 0});
            keys.push_back(key);
        }
        poll(polled.data(), polled.size(), did || !posted_.empty() ? 0 : milliseconds);
        for (std::size_t i = 0; i < polled.size(); ++i) {
            const auto found = watched_.find(keys[i]);
            if (polled[i].revents == 0 || found == watched_.end()) continue;
            const auto call = found->second.call;
            call(static_cast<std::uint32_t>(polled[i].revents));
            did = true;
        }
        return did;
    }

    int last_ = 0;
    std::map<int, Watched> watched_;
    std::map<int, std::pair<app::Nanos, std::function<void()>>> timers_;
    std::vector<std::function<void()>> posted_;
};

}  // namespace cgpu::link::test
