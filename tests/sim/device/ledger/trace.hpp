#pragma once

#include <functional>

#include "tests/sim/device/file/device.hpp"

namespace simgpu {

/// Every change of what processes hold, in the order in which the changes happened: not a sample, so what was
/// held at any instant can be told afterwards. Off until it is started.
class Trace {
  public:
    explicit Trace(Session& session) : session_(session), layout_(session.layout()) {}

    /// Begins anew, with a record of everything that is held now.
    void start();

    /// Records what the process of this slot (kNobody: no process) holds on the GPU now. Part of the caller's
    /// change of the journal: a change that is undone leaves no record.
    void note(std::uint32_t slot, std::uint32_t gpu);

    /// Calls `visit` for all records taken so far, the oldest first. Doesn't keep the device locked
    /// meanwhile.
    /// @return false: some are missing, because there was no room for them or they can't be read.
    static bool read(Device& device, const std::function<void(const TraceRecord&)>& visit);

  private:
    Session& session_;
    Layout& layout_;
};

}  // namespace simgpu
