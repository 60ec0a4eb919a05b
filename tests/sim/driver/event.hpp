#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "tests/sim/driver/context.hpp"
#include "tests/sim/driver/tagged.hpp"

namespace simgpu {

/// One recording of an event: which operation it is, and when the GPU came to it.
struct Recording {
    Queue* queue = nullptr;
    std::uint64_t sequence = 0;
    std::atomic<bool> done{false};
    Nanoseconds time = 0;
};

/// An event holds its latest recording; waits and queries look at that one.
class Event : public Tagged<0x746e657665ULL> {
  public:
    Event(Context& context, unsigned int flags) : context_(context), flags_(flags) {}

    Context& context() const { return context_; }
    bool timed() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }

    void record(Stream& stream);
    /// @return nullptr: never recorded, which counts as completed.
    std::shared_ptr<Recording> latest() const;

  private:
    Context& context_;
    unsigned int flags_;
    mutable std::mutex mutex_;
    std::shared_ptr<Recording> latest_;
};

}  // namespace simgpu
