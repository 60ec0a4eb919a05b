#pragma once

#include <functional>
#include <map>
#include <set>

#include "core/ends/course.hpp"
#include "core/model/node.hpp"
#include "core/model/transitions.hpp"
#include "core/queue/forecast.hpp"
#include "daemon/app/events/events.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/usage.hpp"
#include "daemon/app/stops/stops.hpp"

namespace cgpu::app {

/// Ends instances whose time is over: tells of it before, asks their processes to end, and after a grace
/// kills them and closes their gates. What it has done is in the node, so that a restarted cgpud goes on.
class Ends final : public NodeFollower {
  public:
    struct Outside {
        Loop& loop;
        Stops& stops;
        Events& events;
        std::function<const model::Node&()> node;
        std::function<Result<bool>(const model::Transition&)> change;
        std::function<void(const model::InstanceId&)> changed;  ///< its gates or properties
        /// Removes one without processes; again and again, if the disk refuses it.
        std::function<void(const model::InstanceId&)> remove;
    };

    explicit Ends(Outside outside) : outside_(std::move(outside)) {}

    void set_settings(const ends::Settings& settings);
    /// After every change of the node: there is one timer, for the next moment of all.
    void update(const model::Node& node) override;

    /// When instances end at the latest, on the loop's clock: those with a time limit, where cgpud may end
    /// them. Where it may not, their memory stays as long as they like.
    [[nodiscard]] queue::Ends known() const;

  private:
    void do_what_is_due();
    void carry_out(const model::Instance& instance, ends::Step step);
    [[nodiscard]] ends::Next next_of(const model::Instance& instance) const;
    void give_up(const model::Instance& reservation);
    void tell_soon(const model::Instance& instance);
    void end(const model::Instance& instance);
    void close(const model::Instance& instance);
    bool put(const model::InstanceId& id, const model::TimeLimit& time);
    [[nodiscard]] bool may_signal(const model::Instance& instance) const;

    Outside outside_;
    ends::Settings settings_;
    std::map<model::InstanceId, Nanos> told_;  ///< those of which it was told that this end is near
    Nanos armed_ = 0;                          ///< the moment of the timer
    WatchPtr timer_;
};

}  // namespace cgpu::app
