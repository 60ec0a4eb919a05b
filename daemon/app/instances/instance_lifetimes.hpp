#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "daemon/app/events/repeated_by_user.hpp"
#include "daemon/app/instances/base/ended_ids.hpp"
#include "daemon/app/instances/node_state.hpp"
#include "daemon/app/ports/admission_gate.hpp"

namespace cgpu::app {

/// Ends each instance when its last process has ended: together with the process that it lives with, unless
/// others of its processes, or memory of theirs, are left. If a signal has killed that process, only those
/// that use the GPU count.
class InstanceLifetimes {
  public:
    struct Outside {
        Loop& loop;
        Publisher& publisher;
        Links& links;
        Processes& processes;
        AdmissionGate& admission;
        Events& events;
        std::function<std::uint64_t()> wall_clock;  ///< seconds since 1970
    };

    InstanceLifetimes(NodeState& state, const Outside& outside)
        : state_(state), outside_(outside), ended_events_(outside.loop, outside.events) {}

    /// After start: watches the processes of the instances that the saved state has, and opens their links.
    void adopt();
    /// See Service.
    std::vector<model::Node::Untaken> take_up(const std::vector<model::InstanceRecord>& records);
    /// The instance ends with this process: its first one or, before Attach, the one that created it.
    void watch_end(const model::InstanceId& id, const model::Process& process);
    /// Called by the link: no process uses this instance's socket any more.
    void link_idle(const model::InstanceId& id);
    /// Its processes have ended. If the disk refuses that it is removed, it stays, and is removed as soon as
    /// the disk allows it.
    void end(const model::InstanceId& ended);
    /// Somebody wants it to end. Refused: the disk doesn't allow it, and nothing has changed.
    Result<void> release(const model::InstanceId& id);
    /// The node has another instance in its place. `message`: of the event of its end.
    void replaced(const model::Instance& instance, std::string message);
    /// Whether the process of any instance has just ended, so that its memory and weight will soon be free.
    [[nodiscard]] bool someone_is_ending() const;
    [[nodiscard]] const EndedIds& ended_ids() const { return ended_ids_; }

  private:
    void adopt(const model::Instance& instance);
    void process_ended(const model::InstanceId& id);
    void find_member(const model::InstanceId& id, FoundProcess call);
    void go_on_with_another(const model::InstanceId& id);
    void go_on_with(const model::InstanceId& id, const model::Process& process);
    void save_member(const model::InstanceId& id, const model::Process& process);
    void end_if_idle(const model::InstanceId& id);
    Result<void> remove(const model::Instance& instance);
    [[nodiscard]] bool is_over(const model::InstanceId& id) const;
    [[nodiscard]] Nanos patience_with(const model::Instance& created) const;

    NodeState& state_;
    Outside outside_;
    ComingAndGoing ended_events_;
    EndedIds ended_ids_;
    std::map<model::InstanceId, WatchPtr> ends_;
    std::map<model::InstanceId, WatchPtr> last_ends_;  ///< of those in ended_: how their process ended
    /// Instances whose process has ended, while others of their processes, or memory, may be left.
    std::map<model::InstanceId, Nanos> ended_;        // since when
    std::map<model::InstanceId, WatchPtr> searches_;  ///< for processes that are left of one
    /// What the disk has refused is tried again: to remove an instance, and to save who one goes on with.
    std::map<model::InstanceId, WatchPtr> retries_;
    std::map<model::InstanceId, WatchPtr> unsaved_;
};

}  // namespace cgpu::app
