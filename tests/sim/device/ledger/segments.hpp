#pragma once

#include <optional>

#include "tests/sim/device/file/device.hpp"

namespace simgpu {

/// The table of shared memory, inside one Session. Which process a segment is charged to is kept here, too:
/// its creator while that one holds it, then the one of the remaining holders that opened the device first.
class Segments {
  public:
    explicit Segments(Session& session) : session_(session), layout_(session.layout()) {}

    /// A segment held by `slot`, whose bytes `slot` has been charged for already.
    /// @param gpu or kHostMemory. @return nothing if the table is full.
    std::optional<SegmentName> add(std::uint32_t slot, std::uint32_t gpu, std::uint64_t bytes);

    /// @return nullptr: it has gone.
    const Segment* find(SegmentName name) const;

    /// Makes `slot` a holder; charges it if nobody is charged. @return false: the segment has gone.
    bool hold(SegmentName name, std::uint32_t slot);
    /// `slot` isn't a holder any more. Without holders and descriptors the segment goes.
    void drop(std::uint32_t index, std::uint32_t slot);
    void drop_all(std::uint32_t slot);

    /// A number that no segment has or will have; for pools that are shared.
    std::uint64_t new_serial();

    /// To be called before a descriptor leaves.
    void mark_exported(std::uint32_t index);
    /// Takes out what nobody holds and no descriptor is open of.
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
