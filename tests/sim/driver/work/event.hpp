#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "tests/sim/device/ledger/ipc_events.hpp"
#include "tests/sim/driver/base/tagged.hpp"
#include "tests/sim/driver/context/context.hpp"
#include "tests/sim/driver/graph/capture.hpp"

namespace simgpu {

/// One recording of an event: its operation, and when the GPU reached it.
struct Recording {
    Queue* queue = nullptr;
    std::uint64_t sequence = 0;
    std::atomic<bool> done{false};
    Nanoseconds time = 0;
};

/// An event holds its latest recording; waits and queries use that one.
class Event : public Tagged<0x746e657665ULL> {
  public:
    enum class Origin { made_here, opened };

    Event(Context& context, unsigned int flags) : context_(context), flags_(flags) {}
    /// An event that processes share.
    Event(Context& context, unsigned int flags, const IpcEventId& shared, Origin origin)
        : context_(context), flags_(flags), shared_(shared), origin_(origin) {}
    /// The process that made a shared event removes it.
    ~Event();

    Context& context() const { return context_; }
    bool timed() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }
    const std::optional<IpcEventId>& shared() const { return shared_; }

    void record(Stream& stream);
    void record_captured(CapturedRecording recording);
    /// Makes later operations of the stream wait for the latest recording.
    void hold(Stream& stream) const;
    /// Observes once. An event that was never recorded is done.
    bool is_done() const;
    void wait() const;

    /// @return nullptr: never recorded in this process.
    std::shared_ptr<Recording> latest() const;
    CapturedRecording captured() const;

  private:
    void publish(Stream& stream, std::uint64_t sequence);
    /// The latest recording if another process made it and it isn't done.
    std::optional<IpcEvent> foreign() const;

    Context& context_;
    unsigned int flags_;
    std::optional<IpcEventId> shared_;
    Origin origin_ = Origin::made_here;
    mutable std::mutex mutex_;
    std::shared_ptr<Recording> latest_;
    CapturedRecording captured_;
};

}  // namespace simgpu
