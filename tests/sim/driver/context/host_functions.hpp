#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

#include "tests/sim/driver/context/context.hpp"

namespace simgpu {

class Observer;

/// Calls the program's host functions in the order of their streams, in a separate thread.
class HostFunctions {
  public:
    explicit HostFunctions(Observer& observer) : observer_(observer) {}

    /// @return the place of the function in the stream's queue.
    std::uint64_t submit(Stream& stream, std::function<void()> function);

  private:
    struct Call {
        Queue* queue;
        std::uint64_t sequence;
        std::function<void()> function;
    };

    void start_thread();
    void serve();
    std::list<Call> take_ready();

    Observer& observer_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Call> waiting_;
    bool started_ = false;
};

}  // namespace simgpu
