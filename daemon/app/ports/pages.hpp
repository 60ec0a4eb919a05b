#pragma once

#include <memory>

#include "core/wire/pages.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// The mapped pages of one process (made and unmapped by the link).
struct ProcessPages {
    model::Process process;
    wire::Orders* orders = nullptr;          ///< ours to write
    const wire::Reports* reports = nullptr;  ///< theirs: clamp everything
    virtual ~ProcessPages() = default;
};

/// The mapped doorbell page of one instance.
struct InstanceDoorbell {
    const wire::Doorbell* page = nullptr;
    virtual ~InstanceDoorbell() = default;
};

/// Divides compute among processes. The link adds and removes the processes, with the pages of each. Calls
/// come on the event-loop thread.
class ComputeDivider {
  public:
    virtual ~ComputeDivider() = default;
    virtual void doorbell_added(const model::InstanceId& id,
                                std::shared_ptr<const InstanceDoorbell> doorbell) = 0;
    /// Called before the process gets its Welcome, with closed gates in its orders.
    virtual void process_added(const model::InstanceId& id, std::shared_ptr<ProcessPages> pages) = 0;
    /// Its pages are not touched any more afterwards.
    virtual void process_removed(const model::InstanceId& id, const model::Process& process) = 0;
};

}  // namespace cgpu::app
