#include "daemon/link/instance/instance_loop.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace cgpu::link {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

struct InstanceLoop::Registration final : app::Watch {
    Registration(InstanceLoop& owner, int watched, std::uint64_t its_key)
        : loop(owner), fd(watched), key(its_key) {}
    ~Registration() override {
        epoll_ctl(loop.epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
        loop.calls_.erase(key);
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

    InstanceLoop& loop;
    int fd;
    std::uint64_t key;
};

InstanceLoop::InstanceLoop(app::Loop& outer) : outer_(outer), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_) fail("epoll_create1");
    watch_ = outer_.watch(epoll_.fd(), EPOLLIN, [this](std::uint32_t) { turn(); });
}

app::WatchPtr InstanceLoop::watch(int fd, std::uint32_t events, Call call) {
    const auto key = ++last_;
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    if (epoll_ctl(epoll_.fd(), EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
    calls_.emplace(key, std::make_shared<const Call>(std::move(call)));
    return std::make_unique<Registration>(*this, fd, key);
}

void InstanceLoop::turn() {
    const auto until = outer_.now() + kTurn;
    do {
        // One event at a time, because a callback may remove the object of another event. The kernel puts a
        // descriptor that stays ready behind the others, so each of them gets its turn.
        epoll_event event{};
        if (epoll_wait(epoll_.fd(), &event, 1, 0) != 1) return;
        // Copied: the structure is packed, so no reference may be bound to its member.
        const std::uint64_t key = event.data.u64;
        const auto found = calls_.find(key);
        if (found == calls_.end()) continue;
        const auto call = found->second;  // it may end its own watch
        (*call)(event.events);
    } while (outer_.now() < until);
}

}  // namespace cgpu::link
