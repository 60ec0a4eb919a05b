#include "tests/sim/driver/mapping/shareable_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "tests/sim/device/ledger/segments.hpp"
#include "tests/sim/driver/base/process.hpp"

namespace simgpu {

namespace {

int open_standing_at(const Process& process, std::int64_t place) {
    const int descriptor = process.device().open_file();
    if (descriptor >= 0) lseek(descriptor, place, SEEK_SET);
    return descriptor;
}

/// Returns its file offset; negative if it is not a descriptor of the device file.
std::int64_t place_of(const Process& process, int descriptor) {
    return process.device().is_of_this_file(descriptor) ? lseek(descriptor, 0, SEEK_CUR) : -1;
}

}  // namespace

int make_segment_descriptor(const Process& process, SegmentName name) {
    const std::int64_t place = kSegmentLock + name.index;
    const int descriptor = open_standing_at(process, place);
    if (descriptor < 0) return -1;
    // Shared, because a segment may have several.
    struct flock range {};
    range.l_type = F_RDLCK;
    range.l_whence = SEEK_SET;
    range.l_start = place;
    range.l_len = 1;
    fcntl(descriptor, F_OFD_SETLK, &range);
    Session session(process.device());
    Segments(session).mark_exported(name.index);
    return descriptor;
}

int make_pool_descriptor(const Process& process, SharedPool pool) {
    const auto number = static_cast<std::int64_t>(pool.serial * kMaxGpus + pool.gpu);
    return open_standing_at(process, kPoolMark + number);
}

std::optional<SegmentName> read_segment_descriptor(const Process& process, int descriptor) {
    const std::int64_t index = place_of(process, descriptor) - kSegmentLock;
    if (index < 0 || index >= kMaxSegments) return std::nullopt;
    Session session(process.device());
    const Segment& segment = session.layout().segments[index];
    if (segment.serial == 0) return std::nullopt;
    return SegmentName{static_cast<std::uint32_t>(index), segment.serial};
}

std::optional<SharedPool> read_pool_descriptor(const Process& process, int descriptor) {
    const std::int64_t number = place_of(process, descriptor) - kPoolMark;
    if (number < 0) return std::nullopt;
    return SharedPool{static_cast<std::uint32_t>(number % kMaxGpus),
                      static_cast<std::uint64_t>(number) / kMaxGpus};
}

}  // namespace simgpu
