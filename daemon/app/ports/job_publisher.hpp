#pragma once

#include "core/model/instance_id.hpp"
#include "core/upgrade/job.hpp"

namespace cgpu::app {

/// Tells the bus of jobs.
class JobPublisher {
  public:
    virtual ~JobPublisher() = default;
    /// The job that is under way is a new one, or has got further.
    virtual void job_changed() = 0;
    virtual void job_ended(const upgrade::Ended& ended) = 0;
    /// Another version is in force.
    virtual void module_changed() = 0;
    /// The mode of the node, or where that comes from.
    virtual void mode_changed() = 0;
    /// Other versions run in the processes of an instance.
    virtual void engines_changed(const model::InstanceId& id) = 0;
};

}  // namespace cgpu::app
