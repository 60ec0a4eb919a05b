#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/model/instance.hpp"
#include "core/queue/base/queue.hpp"

namespace cgpu::app {

/// A request that waits, with all that it needs after a restart of cgpud.
struct QueuedRequest {
    queue::Waiting waiting;  ///< its `request` is what the variables say
    /// What it will be: without quotas and a process. `created` is when it was asked for.
    model::Instance instance;
    model::Process process;                        ///< that asked: with it the request leaves the queue
    std::map<std::string, std::string> variables;  ///< those of cGPU and cgpu
    /// For which it was first refused.
    model::Refusal::Reason reason = model::Refusal::Reason::no_memory;

    [[nodiscard]] const model::InstanceId& id() const { return instance.id; }
    friend bool operator==(const QueuedRequest&, const QueuedRequest&) = default;
    [[nodiscard]] std::uint32_t user() const { return instance.creator.value_or(model::kNobody); }
};

/// Where requests that wait outlive cgpud, but not the boot.
class QueueStore {
  public:
    virtual ~QueueStore() = default;
    /// One that can't be written is logged: it waits, and its place is lost with this cgpud.
    virtual void add(const QueuedRequest& request) = 0;
    virtual void remove(const model::InstanceId& id) = 0;
};

}  // namespace cgpu::app
