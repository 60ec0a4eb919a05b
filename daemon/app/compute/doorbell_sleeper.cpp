#include "daemon/app/compute/doorbell_sleeper.hpp"

#include <sys/prctl.h>

#include <limits>
#include <utility>

namespace cgpu::app {

DoorbellSleeper::DoorbellSleeper(std::atomic<std::uint32_t>& word) : word_(word) {
    thread_ = std::thread([this] { run(); });
}

DoorbellSleeper::~DoorbellSleeper() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    orders_.fetch_add(1, std::memory_order_release);
    wake(orders_);
    thread_.join();
}

void DoorbellSleeper::keep(std::vector<HeardDoorbell> doorbells) {
    {
        const std::lock_guard lock(mutex_);
        next_ = std::move(doorbells);
    }
    orders_.fetch_add(1, std::memory_order_release);
    wake(orders_);
}

std::vector<std::shared_ptr<const InstanceDoorbell>> DoorbellSleeper::take_back() {
    if (!some_back_.load(std::memory_order_acquire)) return {};
    const std::lock_guard lock(mutex_);
    some_back_.store(false, std::memory_order_relaxed);
    return std::exchange(back_, {});
}

bool DoorbellSleeper::take_orders() {
    std::optional<std::vector<HeardDoorbell>> next;
    {
        const std::lock_guard lock(mutex_);
        if (stop_) return false;
        next.swap(next_);
    }
    // Pages of former doorbells may be unmapped here, so this is done without the lock.
    if (next) kept_ = std::move(*next);
    return true;
}

void DoorbellSleeper::hand_back(std::optional<std::size_t> woken_by) {
    std::vector<HeardDoorbell> stay;
    std::vector<std::shared_ptr<const InstanceDoorbell>> back;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
        auto& each = kept_[i];
        const bool rang = each.doorbell->page->rings.load(std::memory_order_acquire) != each.heard;
        // The first word is the helper's own.
        if (rang || woken_by == i + 1) {
            back.push_back(std::move(each.doorbell));
        } else {
            stay.push_back(std::move(each));
        }
    }
    kept_ = std::move(stay);
    if (back.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        for (auto& doorbell : back) back_.push_back(std::move(doorbell));
        some_back_.store(true, std::memory_order_release);
    }
    // Publish after the list is updated: a slicer that reads the new word also sees the list; a slicer that
    // is asleep is woken.
    word_.fetch_add(1, std::memory_order_release);
    wake(word_);
}

void DoorbellSleeper::run() {
    prctl(PR_SET_NAME, "doorbell-sleeper");
    DoorbellWait wait;
    while (true) {
        wait.clear();
        // Before the orders are taken: orders that arrive in between end the wait at once.
        wait.add(orders_);
        if (!take_orders()) return;
        for (const auto& each : kept_) wait.add(each.doorbell->page->rings, each.heard);
        const auto woken_by = wait.until(std::numeric_limits<Nanos>::max());
        wakes_.fetch_add(1, std::memory_order_relaxed);
        hand_back(woken_by);
    }
}

}  // namespace cgpu::app
