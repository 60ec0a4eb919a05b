#pragma once

#include <functional>

#include "daemon/app/events/events.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::system {

/// Returns the free blocks of the heap. From any thread; other threads may run meanwhile.
void return_unused_memory();

/// Returns unused memory when the daemon has been quiet for a while after an event: a start of cgpud, and
/// beginnings and ends of instances, use memory that nothing needs later. Without events it never wakes the
/// process.
class MemoryTrim final : public app::EventOutlet {
  public:
    static constexpr app::Nanos kQuiet = 5 * app::kSecond;

    /// `loop` outlives this object.
    explicit MemoryTrim(app::Loop& loop, std::function<void()> trim = return_unused_memory);

    void happened(const app::Event& event, const app::Stamp& stamp) override;
    /// Something else has used memory that nothing needs later.
    void used_memory();

  private:
    void wait_for_quiet();

    app::Loop& loop_;
    std::function<void()> trim_;
    app::Nanos last_event_ = 0;
    app::WatchPtr timer_;
};

}  // namespace cgpu::system
