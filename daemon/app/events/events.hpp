#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/events/event.hpp"

namespace cgpu::app {

/// When an event happened, and its place among the others.
struct Stamp {
    std::uint64_t number = 0;   ///< from 1, without gaps, since cgpud's start
    std::uint64_t time_us = 0;  ///< wall clock, microseconds since 1970
};

/// Tells events to the outside: the log, the bus.
class EventOutlet {
  public:
    virtual ~EventOutlet() = default;
    /// Never throws: what it reports has happened already.
    virtual void happened(const Event& event, const Stamp& stamp) = 0;
    /// An instance is known from now, or no longer. Unlike the events of that, each is noted.
    virtual void instance_known(const model::Instance&) {}
    virtual void instance_forgotten(const model::InstanceId&) {}
};

/// Numbers the events of the daemon, adds what they lack of their subjects, and passes each to all outlets.
/// Used by the event-loop thread only.
class Events {
  public:
    using WallClock = std::function<std::uint64_t()>;  ///< microseconds since 1970

    explicit Events(WallClock wall_clock = [] { return std::uint64_t{0}; })
        : wall_clock_(std::move(wall_clock)) {}
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    /// Outlets must outlive this object, or the last event.
    void add(EventOutlet& outlet) { outlets_.push_back(&outlet); }
    /// Where the names of instances and the indices of GPUs are looked up, if an event has the id only.
    void look_up_in(std::function<const model::Node*()> node) { node_ = std::move(node); }

    void happened(Event event);
    /// For a line that is no event, about an instance of which only the id is at hand.
    [[nodiscard]] log::Subject about(const model::InstanceId& id) const;
    /// See EventOutlet. Before the event of its admission, and after that of its end.
    void instance_known(const model::Instance& instance);
    void instance_forgotten(const model::InstanceId& id);

  private:
    WallClock wall_clock_;
    std::function<const model::Node*()> node_ = [] { return nullptr; };
    std::vector<EventOutlet*> outlets_;
    std::uint64_t number_ = 0;
};

}  // namespace cgpu::app
