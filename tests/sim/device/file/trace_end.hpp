#pragma once

#include "tests/sim/device/file/journal.hpp"
#include "tests/sim/device/layout/layout.hpp"

namespace simgpu {

/// Writes a record behind those of the trace, or counts it as lost where there is no room. Whoever holds the
/// device's lock may add one.
/// @param descriptor of the device file: nothing of the trace is mapped.
void append_record(TraceHead& head, Journal& journal, int descriptor, const TraceRecord& record);

}  // namespace simgpu
