#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/ends/course.hpp"
#include "core/ends/idle.hpp"
#include "core/model/node.hpp"
#include "core/model/transitions.hpp"
#include "core/queue/forecast.hpp"
#include "daemon/app/events/events.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/usage.hpp"
#include "daemon/app/stops/stops.hpp"

namespace cgpu::app {

/// Ends instances whose time is over: tells of it before, asks their processes to end, and after a grace
/// kills them and closes their gates. What it has done is in the node, so that a restarted cgpud goes on. The
/// same for those that had no work for as long as they may: how long one had none is known to this cgpud
/// only, so it begins anew with the next one, and nobody is ended for a time that nobody saw.
class Ends final : public NodeFollower {
  public:
    struct Outside {
        Loop& loop;
        Stops& stops;
        Events& events;
        const UsageSource& usage;
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

    /// Its time without work begins now.
    void begin_idle_anew(const model::InstanceId& id);

    /// When instances end at the latest, on the loop's clock: those with a time limit, where cgpud may end
    /// them. Nobody knows whether one will be without work. Where it may not, their memory stays as long as
    /// they like.
    [[nodiscard]] queue::Ends known() const;

  private:
    /// Why it ends, as the events' fields have it.
    struct Reason {
        const char* name;       ///< time, or idle
        std::uint64_t seconds;  ///< that it had, or was without work
    };

    void do_what_is_due();
    void carry_out(const model::Instance& instance, ends::Step step);
    void give_up(const model::Instance& reservation);
    void tell(const model::Instance& instance, const std::string& what, std::uint64_t left,
              const Reason& reason);
    void tell_soon(const model::Instance& instance);
    void tell_idle(const model::Instance& instance, const ends::Idle& idle);
    void end(const model::Instance& instance);
    void end_idle(const model::Instance& instance);
    /// `why`: a sentence without its end.
    void ask(const model::Instance& instance, const std::string& why, const Reason& reason);
    void look_at_idle();
    /// When something is due next; empty: never.
    [[nodiscard]] std::optional<Nanos> first_due(const model::Node& node) const;
    [[nodiscard]] std::optional<ends::Work> work_of(const model::Instance& instance) const;
    [[nodiscard]] ends::Next next_of(const model::Instance& instance) const;
    void close(const model::Instance& instance);
    bool put(const model::Instance& instance, const model::Transition& transition);
    [[nodiscard]] bool may_signal(const model::Instance& instance) const;

    Outside outside_;
    ends::Settings settings_;
    std::map<model::InstanceId, Nanos> told_;       ///< those of which it was told that this end is near
    std::map<model::InstanceId, ends::Idle> idle_;  ///< of those that may be without work only for a time
    std::set<model::InstanceId> unsaved_;           ///< whose end the disk has refused to save
    Nanos armed_ = 0;                               ///< the moment of the timer
    WatchPtr timer_;
};

}  // namespace cgpu::app
