#pragma once

#include <optional>

#include "tests/sim/device/file/device.hpp"

namespace simgpu {

/// The table of shared memory, inside one Session. It also records the process to which a segment is charged:
/// its creator while the creator holds it, then the one of the remaining holders that opened the device
/// first.
class Segments {
  public:
    explicit Segments(Session& session) : session_(session), layout_(session.layout()) {}

    /// Adds a segment that `slot` holds and for whose bytes `slot` has been charged already.
    /// @param gpu or kHostMemory. @return nothing if the table is full.
    std::optional<SegmentName> add(std::uint32_t slot, std::uint32_t gpu, std::uint64_t bytes);

    /// @return nullptr: it has gone.
    const Segment* find(SegmentName name) const;

    /// Makes `slot` a holder, and charges it if no process is charged. @return false: the segment has gone.
    bool hold(SegmentName name, std::uint32_t slot);
    /// `slot` is no longer a holder. A segment without holders and descriptors is removed.
    void drop(std::uint32_t index, std::uint32_t slot);
    void drop_all(std::uint32_t slot);

    /// Returns a number that no segment has or will have, for pools that are shared.
    std::uint64_t new_serial();

    /// Call it before a descriptor is passed on.
    void mark_exported(std::uint32_t index);
    /// Removes segments that no process holds and of which no descriptor is open.
    void reap();

  private:
    std::optional<std::uint64_t> find_gap(std::uint64_t bytes) const;
    void charge(Segment& segment, std::uint32_t slot);
    void uncharge(Segment& segment);
    void remove(std::uint32_t index);

    Session& session_;
    Layout& layout_;
};

}  // namespace simgpu
