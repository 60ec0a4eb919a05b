#pragma once

#include <cstdint>
#include <string>

#include "core/upgrade/events.hpp"

/// The interface between the link and the upgrader. Used by the event-loop thread only.
namespace cgpu::app {

/// Reaches the fronts of the running processes; link::Server implements it.
class EngineControl {
  public:
    virtual ~EngineControl() = default;
    /// Tells a front to change to another engine; `engine` is the path below wire::kModuleFolder. A front
    /// that can't be told loses its connection, and the loss is reported.
    virtual void switch_engine(const upgrade::Switch& order, const std::string& engine) = 0;
};

/// Receives which engine version each process runs; Upgrader implements it.
class EngineWatch {
  public:
    virtual ~EngineWatch() = default;
    /// Where fronts are reached; null: they can't be reached (any more).
    virtual void set_engine_control(EngineControl* engines) = 0;
    /// The engine that a process loads that starts now: a path below wire::kModuleFolder.
    [[nodiscard]] virtual std::string engine_for_new() const = 0;
    /// A live process known from an earlier daemon.
    virtual void known(const upgrade::Known& process) = 0;
    virtual void connected(const upgrade::Connected& front) = 0;
    virtual void lost(const upgrade::Lost& front) = 0;
    /// The process has ended, or its instance has.
    virtual void gone(const upgrade::Gone& process) = 0;
    /// `detail` in it is quoted.
    virtual void said(const upgrade::Said& said) = 0;
};

}  // namespace cgpu::app
