#pragma once

#include <optional>

#include "tests/sim/device/file/device.hpp"
#include "tests/sim/model/timeline.hpp"

namespace simgpu {

/// Names an entry of the table of events between processes, as their handles do.
struct IpcEventId {
    std::uint32_t index;
    std::uint64_t serial;
};

/// The events that processes share, inside one Session.
class IpcEvents {
  public:
    explicit IpcEvents(Session& session) : session_(session), events_(session.layout().ipc_events) {}

    /// @return nothing if all entries are taken.
    std::optional<IpcEventId> add(std::uint32_t slot);
    void remove(const IpcEventId& id);

    /// The operation that the event now stands for, of a client that has this serial number.
    void record(const IpcEventId& id, const Position& position, std::uint64_t client_serial);
    /// @return nothing if the event is gone, or its process.
    std::optional<IpcEvent> read(const IpcEventId& id) const;
    /// Whether the operation has completed. It counts as completed when its process is gone, and when there
    /// never was an operation.
    bool is_done(const IpcEvent& event) const;

  private:
    bool is_valid(const IpcEventId& id) const;

    Session& session_;
    IpcEvent* events_;
};

}  // namespace simgpu
