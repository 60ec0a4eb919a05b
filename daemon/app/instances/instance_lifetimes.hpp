#pragma once

#include <map>

#include "daemon/app/instances/node_state.hpp"
#include "daemon/app/ports/admission_gate.hpp"

namespace cgpu::app {

/// Ends each instance when its last process has ended: with the process it lives with, unless others of its
/// processes, or memory of theirs, are left.
class InstanceLifetimes {
  public:
    struct Outside {
        Loop& loop;
        Publisher& publisher;
        Links& links;
        Processes& processes;
        AdmissionGate& admission;
    };

    InstanceLifetimes(NodeState& state, const Outside& outside) : state_(state), outside_(outside) {}

    /// After start: watches the processes of the instances that the saved state has, and opens their links.
    void adopt();
    /// The instance ends with this process: its first one or, before Attach, the one that asked for it.
    void watch_end(const model::InstanceId& id, const model::Process& process);
    /// The link's word: no process uses this instance's socket any more.
    void link_idle(const model::InstanceId& id);
    /// Removes it; where the disk refuses, tries again until it doesn't.
    void end(const model::InstanceId& ended);
    /// Whether the process of some instance has just ended, so that what it has is free in a moment.
    [[nodiscard]] bool someone_is_ending() const;

  private:
    void process_ended(const model::InstanceId& id);
    void go_on_with_another(const model::InstanceId& id);
    void go_on_with(const model::InstanceId& id, const model::Process& process);
    void end_if_idle(const model::InstanceId& id);

    NodeState& state_;
    Outside outside_;
    std::map<model::InstanceId, WatchPtr> ends_;
    /// Instances whose process has ended, while others of their processes, or memory, may be left.
    std::map<model::InstanceId, Nanos> ended_;        // since when
    std::map<model::InstanceId, WatchPtr> searches_;  ///< for processes that are left of one
    std::map<model::InstanceId, WatchPtr> retries_;
};

}  // namespace cgpu::app
