#include "client/cgpuctl/top/base/worker.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace cgpu::cgpuctl::top {

Worker::Worker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { work(); }) {}

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    more_.notify_one();
    thread_.join();
    close(fd_);
}

void Worker::add(Task task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    more_.notify_one();
}

std::optional<Worker::Done> Worker::take() {
    const std::lock_guard lock(mutex_);
    std::uint64_t count = 0;
    // Nothing to read if several tasks had ended before the last call.
    [[maybe_unused]] const auto bytes = read(fd_, &count, sizeof count);
    if (done_.empty()) return std::nullopt;
    Done done = std::move(done_.front());
    done_.pop_front();
    return done;
}

bool Worker::is_busy() {
    const std::lock_guard lock(mutex_);
    return under_way_ || !tasks_.empty();
}

void Worker::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        more_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
        if (ends_) return;
        const Task task = std::move(tasks_.front());
        tasks_.pop_front();
        under_way_ = true;
        lock.unlock();
        Done done = task();
        lock.lock();
        under_way_ = false;
        done_.push_back(std::move(done));
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto bytes = write(fd_, &one, sizeof one);
    }
}

}  // namespace cgpu::cgpuctl::top
