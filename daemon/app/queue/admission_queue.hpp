#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/admission/admit.hpp"
#include "core/queue/explain.hpp"
#include "daemon/app/events/repeated_by_user.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/usage.hpp"
#include "daemon/app/queue/queue_store.hpp"

namespace cgpu::app {

/// Requests that wait for their part of a GPU, and who asked for them. core/queue decides who is next; this
/// asks it when the node has changed, and calls back whoever is next.
///
/// A request leaves the queue when it starts, when its deadline comes, when its process ends, or when it is
/// withdrawn. After a restart of cgpud the saved ones keep their places, and their callers come back.
class AdmissionQueue final : public NodeFollower {
  public:
    static constexpr std::size_t kMost = 1024;
    static constexpr std::size_t kMostOfUser = 128;  ///< root has no such limit
    /// After a start, for a request whose caller hasn't come back yet.
    static constexpr Nanos kPatience = 15 * kSecond;
    /// What isn't the node's, such as the memory of unmanaged containers, is looked at again so often.
    static constexpr Nanos kLookEvery = 2 * kSecond;

    /// Called once: it is its turn (grant_in_turn() has what it gets), or why it waits no longer.
    using Done = std::function<void(const Result<void>&)>;

    struct Outside {
        Loop& loop;
        Processes& processes;
        QueueStore& store;
        Publisher& publisher;
        Events& events;
        std::function<const model::Node&()> node;
        std::function<admission::Defaults()> defaults;  ///< without an allowance
        std::function<Result<void>()> open;             ///< refused while nothing can be admitted
        queue::AllowanceOf allowance_of;
        /// Finds out what allowance_of needs to know of the owner, if it isn't known, and looks again then.
        std::function<void(const model::Owner&)> prepare;
        /// A request has left without a start, though its caller still wanted one.
        std::function<void(const QueuedRequest&)> given_up = {};
        std::function<queue::Ends()> ends = {};  ///< null: no end is known
        /// What owners had lately, where that decides; null: it doesn't.
        std::function<const queue::RecentUse*()> recent_use = {};
    };

    /// Requests that have left, since cgpud's start.
    struct Totals {
        std::uint64_t started = 0;
        std::uint64_t left = 0;  ///< without having started
        Nanos waited = 0;        ///< by those that started
    };

    /// As it stands now.
    struct Place {
        const QueuedRequest* request;
        std::size_t position = 0;                           ///< from 1
        std::string waits_for;                              ///< a sentence without a full stop
        std::optional<Nanos> starts_within = std::nullopt;  ///< at the latest; empty: nobody knows
    };

    explicit AdmissionQueue(Outside outside)
        : outside_(std::move(outside)), told_(outside_.loop, outside_.events) {}

    /// Requests that waited under the cgpud before. Call once, after the node is known.
    void adopt(std::vector<QueuedRequest> saved);

    [[nodiscard]] bool empty() const { return queue_.empty(); }
    /// Null: it doesn't wait.
    [[nodiscard]] const QueuedRequest* find(const model::InstanceId& id) const;
    [[nodiscard]] bool is_waiting_for(const model::InstanceId& id, std::uint32_t user,
                                      const model::Process& process) const;
    /// What those that wait will be, by id.
    [[nodiscard]] std::vector<const model::Instance*> instances() const;
    /// Whether time limits say when one of them starts at the latest.
    [[nodiscard]] bool counts_on_ends() const;
    /// In their order.
    [[nodiscard]] std::vector<Place> all() const;
    [[nodiscard]] std::optional<Place> place_of(const model::InstanceId& id) const;
    [[nodiscard]] const Totals& totals() const { return totals_; }

    /// Refused (busy): too many wait.
    [[nodiscard]] Result<void> check_room(std::uint32_t user) const;
    /// It waits from now on.
    void add(QueuedRequest request, Done done);
    /// The caller of a request that waits asks again, because cgpud or the bus was gone meanwhile.
    void come_back(const model::InstanceId& id, Done done);
    /// Somebody takes it out. `why`: `user id 0 has withdrawn it`.
    void withdraw(const model::InstanceId& id, const std::string& why);

    /// What a request gets now. Of one that waits: what its turn has brought; of another one: what it gets in
    /// its order without delaying anybody who waits. Refused: exists (it waits, and it isn't its turn), busy
    /// (others come first).
    [[nodiscard]] Result<admission::Grant> grant_in_turn(const model::InstanceId& id,
                                                         const queue::Waiting& waiting) const;
    /// It has become an instance.
    void started(const model::InstanceId& id);

    void update(const model::Node& /*node*/) override { look_soon(); }
    /// Something has changed that decides who is next.
    void look_soon();

  private:
    /// Why a request leaves the queue without a start.
    enum class Why { deadline, withdrawn, caller_ended, not_back, refused };
    struct Entry {
        QueuedRequest request;
        Done done;  ///< null: after a restart, until its caller comes back
        std::optional<admission::Grant> grant;
        WatchPtr process_end;
    };
    using Entries = std::map<model::InstanceId, Entry>;

    Entry& keep(QueuedRequest request, Done done);
    void look();
    [[nodiscard]] queue::Decision decide(const queue::Queue& queue) const;
    void log_starts(const queue::Decision& decision, const queue::NameOf& name) const;
    bool start_those(const queue::Decision& decision);
    void drop_overdue();
    void drop_lost();
    /// Takes it out of the queue, and calls back its caller with the refusal.
    void leave(model::InstanceId id, Why why, const model::Refusal& refusal);
    Entry forget(Entries::iterator entry);
    void tell(EventType type, const QueuedRequest& request, std::string message, const std::string& reason);
    [[nodiscard]] std::string waits_for(queue::Ticket ticket) const;
    [[nodiscard]] std::string name_of(queue::Ticket ticket) const;
    [[nodiscard]] Place place(const QueuedRequest& request, std::size_t position) const;
    [[nodiscard]] queue::Order order_of(const queue::Queue& queue) const;
    void plan_next_look();
    [[nodiscard]] const queue::Order& order() const;

    Outside outside_;
    ComingAndGoing told_;
    queue::Queue queue_;
    Entries entries_;
    std::map<queue::Ticket, model::InstanceId> ids_;
    std::map<queue::Ticket, queue::Wait> waits_;  ///< by the last decision
    std::string closed_;                          ///< why nothing can be admitted; empty: it can
    /// As it was when it was last asked for; empty: the queue is another one now. After a change each of
    /// hundreds is asked for its position.
    mutable std::optional<queue::Order> order_;
    Totals totals_;
    Nanos all_back_by_ = 0;
    bool looking_ = false;
    std::vector<WatchPtr> ended_;  ///< of processes of requests that have left
    WatchPtr sweep_;
    WatchPtr soon_;
    WatchPtr later_;
};

}  // namespace cgpu::app
