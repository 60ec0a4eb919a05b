#include "daemon/app/queue/admission_queue.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/model/duration.hpp"
#include "core/model/reason_in.hpp"

namespace cgpu::app {
namespace {

using model::Refusal;

std::string describe(const QueuedRequest& request) { return model::describe(request.instance); }

/// A word for programs, and a sentence for people; as AdmissionQueue::Why has them.
struct WhyText {
    const char* word;
    const char* sentence;
};
constexpr std::array<WhyText, 5> kWhys = {
    {{"deadline", "its time to wait is over"},
     {"withdrawn", "it was taken out"},
     {"caller-ended", "its caller has ended"},
     {"not-back", "its caller didn't come back after a restart of cgpud"},
     {"refused", "it could not start when it was its turn"}}};

std::string waited(const QueuedRequest& request, Nanos now) {
    return model::format_duration(
        static_cast<std::uint64_t>(std::max<Nanos>(now - request.waiting.asked_at, 0) / kSecond));
}

}  // namespace

void AdmissionQueue::adopt(std::vector<QueuedRequest> saved) {
    std::ranges::sort(saved, {}, [](const QueuedRequest& each) { return each.waiting.ticket; });
    std::vector<queue::Waiting> waiting;
    queue::Ticket next = 1;
    for (const auto& each : saved) {
        waiting.push_back(each.waiting);
        next = std::max(next, each.waiting.ticket + 1);
    }
    auto restored = queue::Queue::restore(std::move(waiting), next);
    if (!restored) {
        log::error("the queue of requests starts empty: {}", restored.error().text);
        for (const auto& each : saved) outside_.store.remove(each.id());
        return;
    }
    queue_ = std::move(*restored);
    all_back_by_ = outside_.loop.now() + kPatience;
    for (auto& each : saved) keep(std::move(each), {});
    look_soon();
}

AdmissionQueue::Entry& AdmissionQueue::keep(QueuedRequest request, Done done) {
    const auto id = request.id();
    order_.reset();
    ids_.emplace(request.waiting.ticket, id);
    Entry& entry =
        entries_.insert_or_assign(id, Entry{std::move(request), std::move(done), std::nullopt, nullptr})
            .first->second;
    entry.process_end = outside_.processes.on_exit(entry.request.process, [this, id] {
        leave(
            id, Why::caller_ended,
            {Refusal::Reason::not_found, "process: it asked for an instance and has ended. Try: ask again."});
    });
    return entry;
}

const QueuedRequest* AdmissionQueue::find(const model::InstanceId& id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second.request;
}

bool AdmissionQueue::is_waiting_for(const model::InstanceId& id, std::uint32_t user,
                                    const model::Process& process) const {
    const auto* request = find(id);
    return request != nullptr && request->user() == user && request->process == process;
}

Result<void> AdmissionQueue::check_room(std::uint32_t user) const {
    const auto of_user = static_cast<std::size_t>(std::ranges::count_if(
        entries_, [&](const auto& each) { return each.second.request.user() == user; }));
    if (queue_.size() < kMost && (user == 0 || of_user < kMostOfUser)) return {};
    const bool all = queue_.size() >= kMost;
    return model::refuse(
        Refusal::Reason::busy, "the queue",
        (all ? std::to_string(kMost) + " requests"
             : std::to_string(kMostOfUser) + " requests of user id " + std::to_string(user)) +
            " wait already, and no more may",
        "cgpuctl queue, and the same again when fewer wait");
}

void AdmissionQueue::add(QueuedRequest request, Done done) {
    request.waiting.ticket = queue_.add(request.waiting);
    outside_.store.add(request);
    const auto& entry = keep(std::move(request), std::move(done));
    look_soon();
    tell(EventType::queue_entered, entry.request,
         "waits for its part of a GPU, as number " + std::to_string(queue_.size()) + " of the queue", {});
    outside_.publisher.instance_added(entry.request.id());
}

void AdmissionQueue::come_back(const model::InstanceId& id, Done done) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return done({});
    const auto before = std::exchange(found->second.done, std::move(done));
    look_soon();
    if (before)
        before(model::refuse(Refusal::Reason::changed, describe(found->second.request),
                             "its caller has asked once more, and that call is answered",
                             "wait for that one"));
}

void AdmissionQueue::withdraw(const model::InstanceId& id, const std::string& why) {
    const auto* request = find(id);
    if (request == nullptr) return;
    leave(id, Why::withdrawn,
          model::make_refusal(Refusal::Reason::busy, describe(*request),
                              why + " from the queue, where it waited for its part of a GPU",
                              "ask whoever did it, or ask for it again"));
}

Result<admission::Grant> AdmissionQueue::grant_in_turn(const model::InstanceId& id,
                                                       const queue::Waiting& waiting) const {
    if (const auto found = entries_.find(id); found != entries_.end()) {
        if (found->second.grant) return *found->second.grant;
        return model::refuse(Refusal::Reason::exists, describe(found->second.request),
                             "it waits in the queue", "wait for its turn, or use another id");
    }
    auto with = queue_;
    const auto ticket = with.add(waiting);
    const auto decision = decide(with);
    log_starts(decision, [&](queue::Ticket other) {
        if (other != ticket) return name_of(other);
        const std::string& name = waiting.request.container_name;
        return model::describe(model::Instance{id, name, 0, 0, model::Mode::none, {}, std::nullopt});
    });
    for (const auto& start : decision.starts)
        if (start.ticket == ticket) return start.grant;
    std::string why = "others wait, and come first";
    for (const auto& wait : decision.waits)
        if (wait.ticket == ticket && wait.behind && ids_.contains(*wait.behind))
            why = name_of(*wait.behind) + " waits and comes first, and this one might delay it";
    return model::refuse(Refusal::Reason::busy, "the request", why,
                         "wait for its turn, too (cgpuctl run --wait, or CGPU_WAIT)");
}

void AdmissionQueue::started(const model::InstanceId& id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    const auto entry = forget(found);
    const Nanos now = outside_.loop.now();
    ++totals_.started;
    totals_.waited += std::max<Nanos>(now - entry.request.waiting.asked_at, 0);
    tell(EventType::queue_left, entry.request, "starts after it has waited " + waited(entry.request, now),
         "started");
}

AdmissionQueue::Entry AdmissionQueue::forget(Entries::iterator entry) {
    Entry gone = std::move(entry->second);
    const auto ticket = gone.request.waiting.ticket;
    outside_.store.remove(gone.request.id());
    queue_.remove(ticket);
    order_.reset();
    ids_.erase(ticket);
    waits_.erase(ticket);
    entries_.erase(entry);
    look_soon();
    return gone;
}

// `id` by value: callers name it by what is forgotten here.
void AdmissionQueue::leave(model::InstanceId id, Why why, const model::Refusal& refusal) {  // NOLINT
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    Entry entry = forget(found);
    // It may be this watch that calls.
    ended_.push_back(std::move(entry.process_end));
    sweep_ = outside_.loop.at(outside_.loop.now(), [this] { ended_.clear(); });
    ++totals_.left;
    const auto& [word, sentence] = kWhys[static_cast<std::size_t>(why)];
    tell(EventType::queue_left, entry.request,
         "leaves the queue after " + waited(entry.request, outside_.loop.now()) + ": " + sentence, word);
    if (why == Why::deadline && outside_.given_up) outside_.given_up(entry.request);
    if (entry.done) entry.done(tl::unexpected(refusal));
    outside_.publisher.instance_removed(id);
}

void AdmissionQueue::look_soon() {
    if (queue_.empty() || soon_ || looking_) return;
    soon_ = outside_.loop.at(outside_.loop.now(), [this] { look(); });
}

queue::Order AdmissionQueue::order_of(const queue::Queue& queue) const {
    return queue::in_order(queue, outside_.recent_use ? outside_.recent_use() : nullptr);
}

const queue::Order& AdmissionQueue::order() const {
    if (!order_) order_ = order_of(queue_);
    return *order_;
}

queue::Decision AdmissionQueue::decide(const queue::Queue& queue) const {
    const auto ends = outside_.ends ? outside_.ends() : queue::Ends();
    const auto order = order_of(queue);
    const auto defaults = outside_.defaults();
    return queue::next({outside_.node(), ends, outside_.loop.now(), order, defaults, outside_.allowance_of});
}

/// For whoever asks why another one came first.
void AdmissionQueue::log_starts(const queue::Decision& decision, const queue::NameOf& name) const {
    if (decision.starts.empty() || !log::is_written(log::Level::debug)) return;
    log::debug("the queue: {}", queue::describe(decision, outside_.loop.now(), name));
}

void AdmissionQueue::look() {
    soon_.reset();
    later_.reset();
    looking_ = true;
    drop_overdue();
    drop_lost();
    order_.reset();
    bool more = false;
    const auto open = queue_.empty() ? Result<void>() : outside_.open();
    // The remedy is for whoever asks; those that wait only say what they wait for.
    closed_ = open ? std::string() : model::reason_in(open.error().text);
    if (!queue_.empty() && open) {
        for (const auto& [id, entry] : entries_) outside_.prepare(entry.request.waiting.owner);
        const auto decision = decide(queue_);
        log_starts(decision, [this](auto ticket) { return name_of(ticket); });
        waits_.clear();
        for (const auto& wait : decision.waits) waits_.emplace(wait.ticket, wait);
        const bool one_failed = start_those(decision);
        more = one_failed || (decision.more && !decision.starts.empty());
    }
    looking_ = false;
    if (more) look_soon();
    plan_next_look();
}

/// Each gets what the decision has for it, in the decision's order: the later ones are placed beside the
/// earlier ones. True: one couldn't start, and those behind it may get its part.
bool AdmissionQueue::start_those(const queue::Decision& decision) {
    for (const auto& start : decision.starts) {
        const auto id = ids_.find(start.ticket);
        if (id == ids_.end()) continue;
        const auto instance = id->second;
        Entry& entry = entries_.at(instance);
        if (!entry.done) return false;  // its place is kept until its caller is back
        entry.grant = start.grant;
        const auto done = std::exchange(entry.done, {});
        done({});
        if (find(instance) == nullptr) continue;
        // Its caller has been told why it couldn't start; those behind it count with what it didn't take.
        leave(instance, Why::refused,
              model::make_refusal(Refusal::Reason::try_again, describe(*find(instance)),
                                  "it was its turn, and it could not start", "ask again"));
        return true;
    }
    return false;
}

void AdmissionQueue::drop_overdue() {
    const Nanos now = outside_.loop.now();
    for (const auto ticket : queue_.overdue(now)) {
        const auto& request = entries_.at(ids_.at(ticket)).request;
        const auto why = waits_for(ticket);
        leave(request.id(), Why::deadline,
              model::make_refusal(request.reason, describe(request),
                                  "it has waited " + waited(request, now) + " in the queue" +
                                      (why.empty() ? "" : ", and still waits: " + why),
                                  "wait longer (--wait, CGPU_WAIT), or look at cgpuctl queue"));
    }
}

void AdmissionQueue::drop_lost() {
    if (all_back_by_ == 0 || outside_.loop.now() < all_back_by_) return;
    all_back_by_ = 0;
    std::vector<model::InstanceId> lost;
    for (const auto& [id, entry] : entries_)
        if (!entry.done) lost.push_back(id);
    for (const auto& id : lost)
        leave(id, Why::not_back,
              model::make_refusal(Refusal::Reason::not_found, describe(*find(id)),
                                  "its caller didn't come back after a restart of cgpud", "ask again"));
}

void AdmissionQueue::plan_next_look() {
    if (queue_.empty()) return;
    const Nanos next = outside_.loop.now() + kLookEvery;
    later_ = outside_.loop.at(std::min(next, queue_.next_deadline().value_or(next)), [this] { look(); });
}

std::string AdmissionQueue::name_of(queue::Ticket ticket) const {
    const auto found = ids_.find(ticket);
    return found == ids_.end() ? "another one" : describe(entries_.at(found->second).request);
}

std::string AdmissionQueue::waits_for(queue::Ticket ticket) const {
    if (!closed_.empty()) return closed_;
    const auto wait = waits_.find(ticket);
    if (wait != waits_.end())
        return queue::explain(wait->second, outside_.node(), [this](auto other) { return name_of(other); });
    return {};
}

AdmissionQueue::Place AdmissionQueue::place(const QueuedRequest& request, std::size_t position) const {
    Place place{&request, position, waits_for(request.waiting.ticket)};
    const auto wait = waits_.find(request.waiting.ticket);
    if (wait != waits_.end() && wait->second.at_latest)
        place.starts_within = std::max<Nanos>(*wait->second.at_latest - outside_.loop.now(), 0);
    return place;
}

std::vector<AdmissionQueue::Place> AdmissionQueue::all() const {
    std::vector<Place> places;
    for (const auto* waiting : order())
        places.push_back(place(entries_.at(ids_.at(waiting->ticket)).request, places.size() + 1));
    return places;
}

std::vector<const model::Instance*> AdmissionQueue::instances() const {
    std::vector<const model::Instance*> all;
    all.reserve(entries_.size());
    for (const auto& [id, entry] : entries_) all.push_back(&entry.request.instance);
    return all;
}

bool AdmissionQueue::counts_on_ends() const {
    return std::ranges::any_of(waits_, [](const auto& each) { return each.second.at_latest.has_value(); });
}

std::optional<AdmissionQueue::Place> AdmissionQueue::place_of(const model::InstanceId& id) const {
    const auto* request = find(id);
    if (request == nullptr) return std::nullopt;
    return place(*request, queue::position_of(order(), request->waiting.ticket).value_or(0));
}

void AdmissionQueue::tell(EventType type, const QueuedRequest& request, std::string message,
                          const std::string& reason) {
    Event event{.type = type};
    event.message = describe(request) + ": " + std::move(message);
    event.instance = request.id();
    event.name = request.instance.name;
    event.by = Who{request.user(), request.process.pid};
    if (!reason.empty()) event.details["reason"] = reason;
    event.details["waited"] = static_cast<std::uint64_t>(
        std::max<Nanos>(outside_.loop.now() - request.waiting.asked_at, 0) / kMicro);
    set_owner(event, request.waiting.owner);
    told_.happened(request.user(), std::move(event));
}

}  // namespace cgpu::app
