#pragma once

#include "tests/sim/device/file/journal.hpp"
#include "tests/sim/device/layout/layout.hpp"

namespace simgpu {

/// Appends a record to the trace, or counts it as lost where there is no room. The caller must hold the
/// device's lock.
/// @param descriptor of the device file: nothing of the trace is mapped.
void append_record(TraceHead& head, Journal& journal, int descriptor, const TraceRecord& record);

}  // namespace simgpu
