#include "tests/sim/driver/shareable_descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "tests/sim/device/segments.hpp"
#include "tests/sim/driver/runtime.hpp"

namespace simgpu {

namespace {

int open_standing_at(Runtime& runtime, std::int64_t place) {
    const int descriptor = runtime.device().open_file();
    if (descriptor >= 0) lseek(descriptor, place, SEEK_SET);
    return descriptor;
}

/// Where it stands; negative if it isn't one of the device file.
std::int64_t place_of(Runtime& runtime, int descriptor) {
    return runtime.device().is_of_this_file(descriptor) ? lseek(descriptor, 0, SEEK_CUR) : -1;
}

}  // namespace

int make_segment_descriptor(Runtime& runtime, SegmentName name) {
    const std::int64_t place = kSegmentLock + name.index;
    const int descriptor = open_standing_at(runtime, place);
    if (descriptor < 0) return -1;
    // Shared, because a segment may have several.
    struct flock range {};
    range.l_type = F_RDLCK;
    range.l_whence = SEEK_SET;
    range.l_start = place;
    range.l_len = 1;
    fcntl(descriptor, F_OFD_SETLK, &range);
    Session session(runtime.device());
    Segments(session).mark_exported(name.index);
    return descriptor;
}

int make_pool_descriptor(Runtime& runtime, SharedPool pool) {
    const auto number = static_cast<std::int64_t>(pool.serial * kMaxGpus + pool.gpu);
    return open_standing_at(runtime, kPoolMark + number);
}

std::optional<SegmentName> read_segment_descriptor(Runtime& runtime, int descriptor) {
    const std::int64_t index = place_of(runtime, descriptor) - kSegmentLock;
    if (index < 0 || index >= kMaxSegments) return std::nullopt;
    Session session(runtime.device());
    const Segment& segment = session.layout().segments[index];
    if (segment.serial == 0) return std::nullopt;
    return SegmentName{static_cast<std::uint32_t>(index), segment.serial};
}

std::optional<SharedPool> read_pool_descriptor(Runtime& runtime, int descriptor) {
    const std::int64_t number = place_of(runtime, descriptor) - kPoolMark;
    if (number < 0) return std::nullopt;
    return SharedPool{static_cast<std::uint32_t>(number % kMaxGpus),
                      static_cast<std::uint64_t>(number) / kMaxGpus};
}

}  // namespace simgpu
