#include "module/front/link/link.hpp"

#include <poll.h>

#include <algorithm>

#include "module/front/base/errands.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kLookAgain = 50 * kMillisecond;
constexpr std::int64_t kNoticeEvery = kSecond;
/// For room in the socket. Whoever is told has been told by then, unless it has stopped.
constexpr std::int64_t kTellTimeout = kSecond;
constexpr unsigned kTopicBits = 4;

constexpr std::uint32_t kPending = 0;
constexpr std::uint32_t kAnswered = 1;
constexpr std::uint32_t kSendAgain = 2;

wire::Ask make_ask(std::uint64_t number, wire::Topic topic, std::uint32_t gpu, std::uint64_t bytes) {
    auto ask = wire::make_message<wire::Ask>(number << kTopicBits | static_cast<std::uint32_t>(topic));
    ask.topic = topic;
    ask.gpu = gpu;
    ask.bytes = bytes;
    return ask;
}

}  // namespace

/// On the stack of the waiting caller.
struct Link::Waiter {
    std::uint64_t request = 0;
    std::atomic<std::uint32_t> state{kSendAgain};
    wire::Answer answer{};
    Waiter* next = nullptr;
};

wire::Topic Link::topic_of(std::uint64_t request) {
    return static_cast<wire::Topic>(request & ((1u << kTopicBits) - 1));
}

bool Link::ask(wire::Topic topic, std::uint32_t gpu, std::uint64_t bytes, std::int64_t until_ns, bool patient,
               wire::Answer& answer) {
    const Uncancelled uncancelled;
    const auto message = make_ask(next_request_.fetch_add(1), topic, gpu, bytes);
    Waiter waiter;
    waiter.request = message.header.request;
    mutex_.lock();
    waiter.next = waiters_;
    waiters_ = &waiter;
    while (waiter.state.load() != kAnswered) {
        if (now_ns() >= until_ns) break;
        Sent sent = Sent::done;
        if (waiter.state.load() == kSendAgain) {
            sent = send_locked(message);
            if (sent == Sent::done) waiter.state.store(kPending);
            if (sent == Sent::lost && !patient) break;
        }
        const auto seen = waiter.state.load();
        mutex_.unlock();
        if (sent == Sent::lost) errands().wake();
        futex_wait(&waiter.state, seen, std::min(until_ns, now_ns() + kLookAgain));
        mutex_.lock();
    }
    for (Waiter** place = &waiters_; *place != nullptr; place = &(*place)->next) {
        if (*place == &waiter) {
            *place = waiter.next;
            break;
        }
    }
    mutex_.unlock();
    if (waiter.state.load() != kAnswered) return false;
    answer = waiter.answer;
    return true;
}

Sent Link::send_locked(const wire::Ask& ask) { return send_message(socket_, ask); }

void Link::tell(wire::Topic topic, std::uint32_t gpu, std::uint64_t bytes) {
    const auto message = make_ask(next_request_.fetch_add(1), topic, gpu, bytes);
    const Uncancelled uncancelled;
    const auto until_ns = now_ns() + kTellTimeout;
    while (true) {
        Descriptor socket;
        {
            const Locked lock(mutex_);
            if (send_locked(message) != Sent::full) return;
            socket = socket_;
        }
        pollfd entry{socket.usable(), POLLOUT, 0};
        if (entry.fd < 0 || now_ns() >= until_ns) return;
        wait_for_any({&entry, 1}, until_ns);
    }
}

bool Link::give(std::uint32_t gpu, std::uint64_t bytes, bool exported) {
    auto message = wire::make_message<wire::Give>();
    message.gpu = gpu;
    message.exported = exported ? 1 : 0;
    message.bytes = bytes;
    const Uncancelled uncancelled;
    const Locked lock(mutex_);
    return send_message(socket_, message) == Sent::done;
}

void Link::notice(wire::Event event, std::uint32_t gpu, std::string_view detail) {
    const auto kind = static_cast<std::uint32_t>(event) % std::size(last_notice_);
    const auto now = now_ns();
    auto last = last_notice_[kind].load();
    if (last != 0 && now - last < kNoticeEvery) return;
    if (!last_notice_[kind].compare_exchange_strong(last, now)) return;
    auto message = wire::make_message<wire::Notice>();
    message.event = event;
    message.gpu = gpu;
    wire::put_text(message.detail, detail);
    const Uncancelled uncancelled;
    const Locked lock(mutex_);
    send_message(socket_, message);
}

Sent Link::tell_lease(const Descriptor& socket, std::uint32_t gpu, std::uint64_t bytes) {
    // No thread waits for the answer, so it needs no number of its own.
    return send_message(socket, make_ask(0, wire::Topic::lease_held, gpu, bytes));
}

bool Link::connected() {
    const Locked lock(mutex_);
    return socket_.usable() >= 0;
}

void Link::attach(const Descriptor& socket) {
    const Locked lock(mutex_);
    socket_ = socket;
    for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) futex_wake_all(&waiter->state);
}

void Link::detach() {
    const Locked lock(mutex_);
    socket_.close();
    for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
        auto pending = kPending;
        waiter->state.compare_exchange_strong(pending, kSendAgain);
        futex_wake_all(&waiter->state);
    }
}

Sent Link::tell_engine(const wire::Switched& told) {
    const Uncancelled uncancelled;
    const Locked lock(mutex_);
    return send_message(socket_, told);
}

Descriptor Link::socket() {
    const Locked lock(mutex_);
    return socket_;
}

bool Link::deliver(const wire::Answer& answer) {
    const Locked lock(mutex_);
    for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) {
        if (waiter->request != answer.header.request || waiter->state.load() == kAnswered) continue;
        waiter->answer = answer;
        waiter->state.store(kAnswered);
        futex_wake_all(&waiter->state);
        return true;
    }
    return false;
}

void Link::reset_in_child() {
    mutex_.reset_in_child();
    socket_.close();
    waiters_ = nullptr;
}

}  // namespace cgpu::front
