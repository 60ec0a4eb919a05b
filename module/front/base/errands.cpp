#include "module/front/base/errands.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace cgpu::front {
namespace {

constexpr std::int64_t kWakeSlack = 50 * kMicrosecond;
constexpr std::int64_t kGiveDelay = 100 * kMillisecond;
/// One message for all the kernels with which a program starts.
constexpr std::int64_t kMovedDelay = 50 * kMillisecond;

constinit Errands the_errands;

}  // namespace

Errands& errands() { return the_errands; }

void Errands::open() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
    const Locked lock(pipe_mutex_);
    wake_read_.close();
    wake_write_.close();
    // A pipe and not an eventfd: every eventfd has the same inode, so another one under our number would not
    // be detected.
    wake_read_ = Descriptor::adopt(ends[0]);
    wake_write_ = Descriptor::adopt(ends[1]);
}

void Errands::wake() {
    const Uncancelled uncancelled;
    const Locked lock(pipe_mutex_);
    const char byte = 0;
    // A full pipe wakes the thread as well.
    if (const int fd = wake_write_.usable(); fd >= 0 && write(fd, &byte, 1) < 0) return;
}

/// A sleep in which the process was stopped restarts when it resumes: a sleep that should be over is not.
void Errands::wake_by(std::int64_t when_ns) {
    if (when_ns == kNever) return;
    auto asked = asked_.load();
    while (when_ns < asked && !asked_.compare_exchange_weak(asked, when_ns)) continue;
    const auto until = sleeping_until_.load();
    if (until == 0) return;  // awake: it looks at what is asked before it sleeps
    if (until > when_ns + kWakeSlack || until + kWakeSlack < now_ns()) wake();
}

void Errands::note_free() {
    const auto when = now_ns() + kGiveDelay;
    auto planned = give_at_.load(std::memory_order_relaxed);
    if (planned != kNever) return;
    if (give_at_.compare_exchange_strong(planned, when)) wake_by(when);
}

void Errands::note_moved(int gpu) {
    const auto bit = std::uint32_t{1} << gpu;
    if ((moved_.load(std::memory_order_relaxed) & bit) != 0 || (moved_.fetch_or(bit) & bit) != 0) return;
    auto planned = kNever;
    const auto when = now_ns() + kMovedDelay;
    if (tell_moved_at_.compare_exchange_strong(planned, when)) wake_by(when);
}

bool Errands::take_free(std::int64_t now) {
    if (give_at_.load() > now) return false;
    give_at_.store(kNever);
    return true;
}

std::uint32_t Errands::take_moved(std::int64_t now) {
    if (tell_moved_at_.load() > now) return 0;
    tell_moved_at_.store(kNever);
    return moved_.exchange(0);
}

bool Errands::sleep(std::int64_t until_ns, int socket) {
    until_ns = std::min({until_ns, give_at_.load(), tell_moved_at_.load()});
    sleeping_until_.store(until_ns);
    // After that store: threads that ask from here on see that the service sleeps.
    until_ns = std::min(until_ns, asked_.load());
    int pipe = wake_read_.usable();
    if (pipe < 0) {
        open();
        pipe = wake_read_.usable();
    }
    std::array<pollfd, 2> entries{{{pipe, POLLIN, 0}, {socket, POLLIN, 0}}};
    wait_for_any(entries, until_ns);
    sleeping_until_.store(0);
    if ((entries[0].revents & POLLIN) != 0) {
        std::array<char, 64> bytes;
        if (const int fd = wake_read_.usable(); fd >= 0) {
            while (read(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) continue;
        }
    }
    return entries[1].revents != 0;
}

void Errands::reset_in_child() {
    pipe_mutex_.reset_in_child();
    wake_read_.close();
    wake_write_.close();
    sleeping_until_.store(0);
    asked_.store(kNever);
    give_at_.store(kNever);
    moved_.store(0);
    tell_moved_at_.store(kNever);
}

}  // namespace cgpu::front
