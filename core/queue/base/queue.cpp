#include "core/queue/base/queue.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace cgpu::queue {

tl::expected<Queue, model::Refusal> Queue::restore(std::vector<Waiting> all, Ticket next) {
    const auto broken = [](Ticket ticket, const char* why) {
        return model::refuse(model::Refusal::Reason::invalid, "saved queue",
                             "request " + std::to_string(ticket) + " " + why,
                             "restore a copy of the state, or move it away to start empty");
    };
    std::ranges::sort(all, {}, &Waiting::ticket);
    Queue queue;
    queue.next_ = next;
    for (Waiting& waiting : all) {
        const Ticket ticket = waiting.ticket;
        if (ticket == 0 || ticket >= next) return broken(ticket, "has a number that would be given again");
        if (!queue.all_.empty() && queue.all_.back()->ticket == ticket)
            return broken(ticket, "is in it twice");
        queue.all_.push_back(std::make_shared<const Waiting>(std::move(waiting)));
    }
    return queue;
}

Queue::All::const_iterator Queue::place(Ticket ticket) const {
    const auto at =
        std::ranges::lower_bound(all_, ticket, {}, [](const auto& waiting) { return waiting->ticket; });
    return at != all_.end() && (*at)->ticket == ticket ? at : all_.end();
}

const Waiting* Queue::find(Ticket ticket) const {
    const auto at = place(ticket);
    return at == all_.end() ? nullptr : at->get();
}

Ticket Queue::add(Waiting waiting) {
    waiting.ticket = next_++;
    all_.push_back(std::make_shared<const Waiting>(std::move(waiting)));
    return all_.back()->ticket;
}

std::shared_ptr<const Waiting> Queue::remove(Ticket ticket) {
    const auto at = place(ticket);
    if (at == all_.end()) return nullptr;
    auto removed = *at;
    all_.erase(at);
    return removed;
}

std::vector<Ticket> Queue::overdue(Nanos now) const {
    std::vector<Ticket> found;
    for (const auto& waiting : all_)
        if (waiting->deadline && *waiting->deadline <= now) found.push_back(waiting->ticket);
    return found;
}

std::optional<Nanos> Queue::next_deadline() const {
    std::optional<Nanos> next;
    for (const auto& waiting : all_)
        if (waiting->deadline && (!next || *waiting->deadline < *next)) next = waiting->deadline;
    return next;
}

bool operator==(const Queue& one, const Queue& other) {
    return one.next_ == other.next_ &&
           std::ranges::equal(one.all_, other.all_,
                              [](const auto& a, const auto& b) { return a == b || *a == *b; });
}

}  // namespace cgpu::queue
