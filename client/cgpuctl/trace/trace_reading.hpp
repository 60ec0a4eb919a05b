#pragma once

#include <cstdint>
#include <functional>
#include <ostream>

#include "client/cgpuctl/trace/trace_json.hpp"

namespace cgpu::cgpuctl {

/// How the reading of a trace ended.
struct TraceEnd {
    enum class How {
        complete,     ///< with the last record
        broke_off,    ///< cgpud is gone
        interrupted,  ///< by a second signal
        unreadable,   ///< what came is no record
        unwritable,   ///< the file takes no more
    };
    How how = How::broke_off;
    std::uint64_t bytes = 0;  ///< of records
    std::uint64_t records = 0;
};

/// Copies the records of a trace from cgpud's socket to `out` as JSON, until the trace ends. When `signals`
/// becomes readable, cgpud is told to end the trace, and the rest is read; the second time, nothing more is
/// waited for. However it ends, what is in `out` is valid JSON if it could be written. `progress` is called
/// when records have come.
[[nodiscard]] TraceEnd read_trace(int socket, int signals, TraceJson& json, std::ostream& out,
                                  const std::function<void(const TraceEnd&)>& progress);

}  // namespace cgpu::cgpuctl
