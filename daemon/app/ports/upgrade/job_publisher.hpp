#pragma once

#include "core/model/instance_id.hpp"
#include "core/upgrade/job.hpp"

namespace cgpu::app {

/// Publishes jobs on the bus.
class JobPublisher {
  public:
    virtual ~JobPublisher() = default;
    /// There is a new job under way, or the job has advanced.
    virtual void job_changed() = 0;
    virtual void job_ended(const upgrade::Ended& ended) = 0;
    /// Another version is in force.
    virtual void module_changed() = 0;
    /// The mode of the node, or its source, has changed.
    virtual void mode_changed() = 0;
    /// The processes of an instance run other versions than before.
    virtual void engines_changed(const model::InstanceId& id) = 0;
};

}  // namespace cgpu::app
