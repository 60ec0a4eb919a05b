#include "tests/sim/device/ledger/segments.hpp"

#include <algorithm>

#include "tests/sim/device/ledger/trace.hpp"

namespace simgpu {

std::optional<SegmentName> Segments::add(std::uint32_t slot, std::uint32_t gpu, std::uint64_t bytes) {
    const auto* free_entry = std::find_if(layout_.segments, layout_.segments + layout_.segment_count,
                                          [](const Segment& segment) { return segment.serial == 0; });
    const auto index = static_cast<std::uint32_t>(free_entry - layout_.segments);
    const auto offset = find_gap(bytes);
    if (index == kMaxSegments || !offset) return std::nullopt;
    Journal& journal = session_.journal();
    journal.save(layout_.segment_serial);
    journal.save(layout_.segment_cursor);
    journal.save(layout_.segment_count);
    journal.save(layout_.segments[index]);
    layout_.segments[index] =
        Segment{++layout_.segment_serial, kDataOffset + *offset, bytes, gpu, slot, 0, {}};
    layout_.segments[index].holders.set(slot);
    layout_.segment_cursor = *offset + bytes;
    layout_.segment_count = std::max(layout_.segment_count, index + 1);
    journal.commit();
    return SegmentName{index, layout_.segments[index].serial};
}

/// Returns the first gap at or after the cursor; the search wraps once around the data area.
std::optional<std::uint64_t> Segments::find_gap(std::uint64_t bytes) const {
    if (bytes > kDataBytes) return std::nullopt;
    std::uint64_t at = layout_.segment_cursor;
    bool wrapped = false;
    for (bool moved = true; moved;) {
        moved = false;
        if (at + bytes > kDataBytes) {
            if (wrapped) return std::nullopt;
            wrapped = true;
            at = 0;
        }
        for (std::uint32_t s = 0; s < layout_.segment_count; ++s) {
            const Segment& segment = layout_.segments[s];
            if (segment.serial == 0) continue;
            const std::uint64_t begin = segment.offset - kDataOffset;
            if (begin >= at + bytes || begin + segment.bytes <= at) continue;
            at = begin + segment.bytes;
            moved = true;
        }
    }
    return at;
}

const Segment* Segments::find(SegmentName name) const {
    if (name.index >= layout_.segment_count || name.serial == 0) return nullptr;
    const Segment& segment = layout_.segments[name.index];
    return segment.serial == name.serial ? &segment : nullptr;
}

bool Segments::hold(SegmentName name, std::uint32_t slot) {
    if (!find(name)) return false;
    Segment& segment = layout_.segments[name.index];
    session_.journal().save(segment);
    segment.holders.set(slot);
    if (segment.owner == kNobody) {
        uncharge(segment);
        charge(segment, slot);
    }
    session_.journal().commit();
    return true;
}

void Segments::drop(std::uint32_t index, std::uint32_t slot) {
    Segment& segment = layout_.segments[index];
    session_.journal().save(segment);
    segment.holders.reset(slot);
    if (segment.holders.none() && !(segment.exported && session_.has_descriptors(index))) {
        remove(index);
        return;
    }
    if (segment.owner == slot) {
        std::uint32_t heir = kNobody;
        for (std::uint32_t s = 0; s < layout_.process_count; ++s) {
            if (!segment.holders.test(s)) continue;
            if (heir == kNobody || layout_.processes[s].serial < layout_.processes[heir].serial) heir = s;
        }
        uncharge(segment);
        charge(segment, heir);
    }
    session_.journal().commit();
}

void Segments::drop_all(std::uint32_t slot) {
    for (std::uint32_t index = 0; index < layout_.segment_count; ++index) {
        const Segment& segment = layout_.segments[index];
        if (segment.serial != 0 && segment.holders.test(slot)) drop(index, slot);
    }
}

std::uint64_t Segments::new_serial() {
    session_.journal().save(layout_.segment_serial);
    const std::uint64_t serial = ++layout_.segment_serial;
    session_.journal().commit();
    return serial;
}

void Segments::mark_exported(std::uint32_t index) {
    session_.journal().save(layout_.segments[index].exported);
    layout_.segments[index].exported = 1;
    session_.journal().commit();
}

void Segments::reap() {
    for (std::uint32_t index = 0; index < layout_.segment_count; ++index) {
        const Segment& segment = layout_.segments[index];
        if (segment.serial == 0 || segment.holders.any()) continue;
        if (!segment.exported || !session_.has_descriptors(index)) remove(index);
    }
}

/// This is part of the caller's change of the journal, as is uncharge().
void Segments::charge(Segment& segment, std::uint32_t slot) {
    segment.owner = slot;
    if (segment.gpu == kHostMemory) return;
    if (slot == kNobody) {
        session_.journal().save(layout_.unowned_bytes[segment.gpu]);
        layout_.unowned_bytes[segment.gpu] += segment.bytes;
    } else {
        GpuUse& use = layout_.processes[slot].gpus[segment.gpu];
        session_.journal().save(use);
        use.allocated_bytes += segment.bytes;
        use.peak_bytes = std::max(use.peak_bytes, use.bytes());
    }
    Trace(session_).note(slot, segment.gpu);
}

void Segments::uncharge(Segment& segment) {
    if (segment.gpu == kHostMemory) return;
    std::uint64_t& bytes = segment.owner == kNobody
                               ? layout_.unowned_bytes[segment.gpu]
                               : layout_.processes[segment.owner].gpus[segment.gpu].allocated_bytes;
    session_.journal().save(bytes);
    bytes -= segment.bytes;
    Trace(session_).note(segment.owner, segment.gpu);
}

void Segments::remove(std::uint32_t index) {
    Segment& segment = layout_.segments[index];
    session_.forget_data(segment.offset, segment.bytes);
    session_.journal().save(segment);
    session_.journal().save(layout_.segment_count);
    uncharge(segment);
    segment = Segment{};
    while (layout_.segment_count > 0 && layout_.segments[layout_.segment_count - 1].serial == 0) {
        --layout_.segment_count;
    }
    session_.journal().commit();
}

}  // namespace simgpu
