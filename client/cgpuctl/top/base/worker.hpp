#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace cgpu::cgpuctl::top {

/// A thread that carries out tasks one after the other, so that keys are answered while one of them waits.
/// What a task returns is carried out by the thread that takes it.
class Worker {
  public:
    using Done = std::function<void()>;
    using Task = std::function<Done()>;

    /// The thread has the signal mask of the one that calls this.
    Worker();
    /// Waits until the task that is under way has ended, and forgets the others.
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void add(Task task);
    /// Becomes readable when a task has ended.
    [[nodiscard]] int fd() const { return fd_; }
    /// What a task that has ended returned; empty: none has.
    [[nodiscard]] std::optional<Done> take();
    /// Whether a task has not ended.
    [[nodiscard]] bool is_busy();

  private:
    void work();

    int fd_;
    std::mutex mutex_;
    std::condition_variable more_;
    bool ends_ = false;
    bool under_way_ = false;
    std::deque<Task> tasks_;
    std::deque<Done> done_;
    std::thread thread_;
};

}  // namespace cgpu::cgpuctl::top
