#pragma once

#include <functional>

#include "tests/sim/device/file/device.hpp"

namespace simgpu {

/// Every change of what processes hold, in the order of the changes. It is not a sample, so it shows what was
/// held at any instant. It is off until it is started.
class Trace {
  public:
    explicit Trace(Session& session) : session_(session), layout_(session.layout()) {}

    /// Starts again, with a record of everything that is held now.
    void start();

    /// Records what the process of this slot (kNobody: no process) holds on the GPU now. The record is part
    /// of the caller's change of the journal: a change that is undone leaves no record.
    void note(std::uint32_t slot, std::uint32_t gpu);

    /// Calls `visit` for all records so far, the oldest first. It does not keep the device locked meanwhile.
    /// @return false: some are missing, because there was no room for them or they cannot be read.
    static bool read(Device& device, const std::function<void(const TraceRecord&)>& visit);

  private:
    Session& session_;
    Layout& layout_;
};

}  // namespace simgpu
