#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/trace/record.hpp"

namespace cgpu::cgpuctl {

/// Turns the records of a trace into JSON in Chrome's Trace Event Format, which ui.perfetto.dev,
/// chrome://tracing and Perfetto's trace_processor open. Call begin() once, add() for each record, end()
/// once; the texts in this order are the file. Whatever records come, in between or never, the file is valid.
///
/// The GPU is a process of the trace, with a track that says whose turn it is and one for events. Each
/// instance is a process, too, with tracks for its turns, its gate and its measured work, and counters for
/// memory. Times (`ts`, `dur`) are microseconds since the trace's start.
class TraceJson {
  public:
    [[nodiscard]] static std::string begin();
    [[nodiscard]] std::string add(const trace::Record& record);
    /// Also writes `otherData`: what was traced, and what it cost. `bytes`: of the records.
    [[nodiscard]] std::string end(std::uint64_t bytes) const;

    /// The last record; empty: the trace broke off.
    [[nodiscard]] const std::optional<trace::Record>& last() const { return last_; }
    [[nodiscard]] std::uint64_t instances() const { return instances_; }

  private:
    std::map<std::uint16_t, std::string> names_;  ///< by track
    trace::Record start_;
    std::optional<trace::Record> last_;
    std::uint64_t instances_ = 0;
    bool any_ = false;  ///< an event has been written
};

}  // namespace cgpu::cgpuctl
