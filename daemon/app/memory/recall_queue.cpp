#include "daemon/app/memory/recall_queue.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::app {

RecallQueue::RecallQueue(Loop& loop, LeasePool& pool, const Settings& settings)
    : loop_(loop), pool_(pool), settings_(settings) {}

void RecallQueue::settle(Nanos until, bool hold_all) {
    settled_at_ = until;
    hold_all_ = hold_all;
}

void RecallQueue::ask(LeaseAsk ask, LeaseReply reply) {
    silent_.erase(ask.key.process);
    waiting_.push_back({std::move(ask), std::move(reply), loop_.now(), {}});
    drive();
}

void RecallQueue::gave(const model::Process& process, std::uint64_t bytes) {
    silent_.erase(process);
    recalled_.erase(process);
    if (bytes == 0 && !waiting_.empty()) waiting_.front().spent.insert(process);
    drive();
}

void RecallQueue::forget(const model::Process& process) {
    silent_.erase(process);
    unseen_.erase(process);
    recalled_.erase(process);
    if (!waiting_.empty() && waiting_.front().ask.key.process == process) {
        timer_.reset();
        waits_to_settle_ = false;
    }
    std::erase_if(waiting_, [&](const Waiting& w) { return w.ask.key.process == process; });
    drive();
}

void RecallQueue::drive() {
    // A reply or a recall may call this again; the loop below then continues with the changed state.
    again_ = true;
    if (driving_) return;
    driving_ = true;
    while (again_) {
        again_ = false;
        while (!waiting_.empty() && step()) {
        }
    }
    driving_ = false;
}

/// True: the first of the queue was answered.
bool RecallQueue::step() {
    if (waiting_.front().ask.what == LeaseAsk::What::usage) {
        if (waits_for_context(waiting_.front())) return false;
        answer_first({0, wire::Why::none, 0, 0, {}});
        return true;
    }
    if (held_()) return false;
    if (hold_all_ && loop_.now() < settled_at_) {
        waits_to_settle_ = true;
        wait_until(settled_at_);
        return false;
    }
    if (refused_()) {
        answer_first({0, wire::Why::over_limit, 0, 0, {}});
        return true;
    }
    if (waits_for_context(waiting_.front())) return false;
    const auto grant = try_grant(waiting_.front().ask);
    if (!grant) {
        // The protocol has no better reason: there is no place for one more process.
        answer_first({0, wire::Why::too_many_processes, 0, 0, grant.error().text});
        return true;
    }
    if (grant->lack == 0) {
        answer_first({grant->bytes, wire::Why::none, 0, 0, {}});
        return true;
    }
    if (may_come(waiting_.front(), grant->lack)) {
        if (!timer_ && (estimated_bytes() > 0 || pool_.kept().bytes > 0)) look_();
        wait_until(loop_.now() + settings_.deadline);
        return false;
    }
    if (loop_.now() < settled_at_) {
        waits_to_settle_ = true;
        wait_until(settled_at_);
        return false;
    }
    answer_last();
    return true;
}

/// Nothing more can come. What was held back for a load that may never take it is granted before an
/// allocation is refused.
void RecallQueue::answer_last() {
    const auto grant = try_grant(waiting_.front().ask, true);
    if (grant && grant->lack == 0)
        answer_first({grant->bytes, wire::Why::none, 0, 0, {}});
    else
        answer_first({0, wire::Why::over_limit, 0, 0, {}});
}

bool RecallQueue::awaits_context(const model::Process& process) const {
    if (contexts_known_() || unseen_.contains(process)) return false;
    const auto* account = pool_.find(process);
    return account != nullptr && account->unsized.has_unseen_context();
}

/// A process whose first context may be larger than expected gets no lease before the driver has shown that
/// context: what is granted meanwhile could take the instance over its limit. True: it waits.
bool RecallQueue::waits_for_context(const Waiting& first) {
    const bool concerned = first.ask.what == LeaseAsk::What::lease || first.ask.what == LeaseAsk::What::usage;
    if (!concerned || !awaits_context(first.ask.key.process)) return false;
    const auto until = first.since + settings_.context_hope;
    if (loop_.now() >= until) {
        unseen_.insert(first.ask.key.process);
        return false;
    }
    if (!timer_) look_();
    waits_to_settle_ = true;
    wait_until(until);
    return true;
}

Result<LeasePool::LeaseGrant> RecallQueue::try_grant(const LeaseAsk& ask, bool last) {
    if (ask.what != LeaseAsk::What::lease)
        return pool_.set_aside(ask.key.process, ask.what, ask.bytes, ask.spare, loop_.now());
    // Others wait: no ask gets more than it asked for.
    return pool_.lease(ask.key.process, ask.bytes, last || waiting_.size() > 1 ? 0 : settings_.chunk, last);
}

std::vector<RecallQueue::Sibling> RecallQueue::siblings(const Waiting& first) const {
    std::vector<Sibling> found;
    for (const auto& [process, account] : pool_.accounts()) {
        if (process == first.ask.key.process || silent_.contains(process) || first.spent.contains(process))
            continue;
        if (const auto slack = pool_.slack(process); slack > 0) found.push_back({process, slack});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Sibling& a, const Sibling& b) { return a.slack > b.slack; });
    return found;
}

std::uint64_t RecallQueue::dying_bytes() const {
    std::uint64_t sum = pool_.kept().bytes;
    for (const auto& [process, account] : pool_.accounts())
        if (account.dying && loop_.now() - account.dying_since < settings_.dying_hope) sum += account.total();
    return sum;
}

std::uint64_t RecallQueue::estimated_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [process, account] : pool_.accounts())
        if (!account.dying && loop_.now() - account.unsized.pending_since() < settings_.figure_hope)
            sum += account.unsized.pending() + account.unsized.spare();
    return sum;
}

/// Recalls unused lease that could cover the lacking bytes; false if none could.
bool RecallQueue::may_come(const Waiting& first, std::uint64_t lack) {
    const auto candidates = siblings(first);
    const auto by_itself = dying_bytes() + estimated_bytes();
    auto possible = by_itself;
    for (const auto& sibling : candidates) possible += sibling.slack;
    if (possible < lack) return false;

    std::uint64_t coming = 0;
    for (const auto& sibling : candidates) {
        if (coming >= lack) break;
        if (!recalled_.contains(sibling.process)) {
            recalled_.insert(sibling.process);
            const LeaseKey key{pool_.key(), sibling.process};
            if (peers_ == nullptr || !peers_->recall(key, wire::align_up(lack - coming))) {
                recalled_.erase(sibling.process);
                continue;
            }
        }
        coming += sibling.slack;
    }
    return coming + by_itself >= lack;
}

void RecallQueue::wait_until(Nanos when) {
    if (timer_) return;
    due_at_ = when;
    timer_ = loop_.at(when, [this] { deadline_passed(); });
}

void RecallQueue::deadline_passed() {
    timer_.reset();
    if (waiting_.empty()) return drive();
    const bool held_up = loop_.now() - due_at_ > settings_.deadline / 4;
    if (held_up) return wait_until(loop_.now() + settings_.deadline);
    if (std::exchange(waits_to_settle_, false)) {
        // Processes that had nothing to spare when they answered may have freed memory since.
        waiting_.front().spent.clear();
        return drive();
    }
    silent_.insert(recalled_.begin(), recalled_.end());
    recalled_.clear();
    // Others may still reconnect and return something.
    if (loop_.now() >= settled_at_) answer_last();
    drive();
}

void RecallQueue::answer_first(LeaseAnswer answer) {
    timer_.reset();
    waits_to_settle_ = false;
    const Waiting first = std::move(waiting_.front());
    waiting_.pop_front();
    if (answer.why == wire::Why::over_limit) pool_.ask_refused(first.ask.key.process);
    answer.limit = pool_.limit();
    answer.used = pool_.used();
    if (first.reply(answer) || answer.why != wire::Why::none) return;
    switch (first.ask.what) {
        case LeaseAsk::What::lease:
            pool_.give(first.ask.key.process, answer.granted);
            return;
        case LeaseAsk::What::context:
        case LeaseAsk::What::load:
            pool_.not_made(first.ask.key.process, answer.granted);
            return;
        case LeaseAsk::What::usage:
            return;
    }
}

void RecallQueue::shrink() {
    const auto leased = pool_.leased();
    auto over = leased > pool_.limit() ? leased - pool_.limit() : 0;
    for (const auto& [process, account] : pool_.accounts()) {
        const auto part = std::min(pool_.slack(process), wire::align_up(over));
        if (part == 0 || peers_ == nullptr || !peers_->recall({pool_.key(), process}, part)) continue;
        over -= std::min(over, part);
    }
}

void RecallQueue::close() {
    while (!waiting_.empty()) answer_first({0, wire::Why::not_managed, 0, 0, {}});
}

}  // namespace cgpu::app
