#include "tests/sim/device/file/trace_end.hpp"

#include <unistd.h>

namespace simgpu {

void append_record(TraceHead& head, Journal& journal, int descriptor, const TraceRecord& record) {
    journal.save(head);
    const auto place = static_cast<off_t>(kTraceOffset + head.count * sizeof record);
    const bool kept = head.count < kMaxTraceRecords &&
                      pwrite(descriptor, &record, sizeof record, place) == ssize_t{sizeof record};
    ++(kept ? head.count : head.lost);
}

}  // namespace simgpu
