#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/model/instance_id.hpp"
#include "core/trace/record.hpp"
#include "daemon/app/ports/ports.hpp"

/// What a trace of a GPU is made of: who makes its records, and who carries them to its reader.
namespace cgpu::app {

/// The divider of compute, as traces see it. The records are made in its steps.
class TracedCompute {
  public:
    virtual ~TracedCompute() = default;
    /// `start`: the first record; the trace begins at its time, which must be now. False: the GPU is traced
    /// already, or there is no such GPU.
    virtual bool begin_trace(const model::Uuid& gpu, trace::Record start) = 0;
    /// Adds a record of something else, on the instance's track if it has one. Does nothing without a trace.
    virtual void note(const model::Uuid& gpu, trace::Record record,
                      const std::optional<model::InstanceId>& instance) = 0;
    /// Exchanges the records so far for `empty`, whose memory is used for the next ones.
    virtual void take_trace(const model::Uuid& gpu, std::vector<trace::Record>& empty) = 0;
    /// The same, with the last record. `cost`: time that others than the divider spent on the trace,
    /// nanoseconds.
    virtual void end_trace(const model::Uuid& gpu, Nanos cost, std::vector<trace::Record>& empty) = 0;
};

/// The writing end of a stream to the reader of a trace. Nothing here waits.
class TraceStream {
  public:
    enum class Reader {
        reads,   ///< as far as is known
        is_done  ///< it wants no more than the rest, or it is gone
    };

    virtual ~TraceStream() = default;
    /// Returns how many of the bytes were taken; empty: the reader is gone.
    virtual std::optional<std::size_t> send(std::span<const std::byte> bytes) = 0;
    virtual Reader reader() = 0;
};

struct OpenedTrace {
    std::unique_ptr<TraceStream> stream;
    int reader_fd = -1;  ///< for the reader; the caller's to close
};

class TraceStreams {
  public:
    virtual ~TraceStreams() = default;
    /// Refused (storage): no descriptor is left.
    virtual Result<OpenedTrace> open() = 0;
};

}  // namespace cgpu::app
