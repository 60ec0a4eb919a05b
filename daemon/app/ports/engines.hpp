#pragma once

#include <cstdint>
#include <string>

#include "core/upgrade/events.hpp"

/// What the link and the upgrader say to each other. One thread: the loop's.
namespace cgpu::app {

/// The fronts of the running processes (link::Server is the real one).
class EngineControl {
  public:
    virtual ~EngineControl() = default;
    /// Tells a front to go over; `engine` is the path below wire::kModuleFolder. One that can't be told loses
    /// its connection, and that is heard of.
    virtual void switch_engine(const upgrade::Switch& order, const std::string& engine) = 0;
};

/// Who hears which engine runs in which process (Upgrader is the real one).
class EngineWatch {
  public:
    virtual ~EngineWatch() = default;
    /// Where fronts are reached; null: nowhere (any more).
    virtual void set_engine_control(EngineControl* engines) = 0;
    /// What a process loads that starts now: a path below wire::kModuleFolder. `switches`: its front can
    /// exchange it for another later.
    [[nodiscard]] virtual std::string engine_for_new(bool switches) const = 0;
    /// A process that lives, of an earlier daemon's time.
    virtual void known(const upgrade::Known& process) = 0;
    virtual void connected(const upgrade::Connected& front) = 0;
    virtual void lost(const upgrade::Lost& front) = 0;
    /// It has ended, or its instance has.
    virtual void gone(const upgrade::Gone& process) = 0;
    /// `detail` in it is quoted.
    virtual void said(const upgrade::Said& said) = 0;
};

}  // namespace cgpu::app
