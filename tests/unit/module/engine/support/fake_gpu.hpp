#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace cgpu::module::test {

/// A GPU in virtual time: each stream executes its queue in order, and the heads of several streams share the
/// GPU equally, or, on a wide one, don't slow each other down.
class FakeGpu {
  public:
    bool wide = false;

    using Stream = std::uint64_t;

    void launch(Stream stream, std::int64_t ns) { queues_[stream].push_back({static_cast<double>(ns), 0}); }
    /// Records an event after the present content of the stream; returns its number.
    std::uint64_t record(Stream stream) {
        queues_[stream].push_back({0, times_.size()});
        times_.push_back(-1);
        settle();
        return times_.size() - 1;
    }
    /// When the event completed, or -1.
    std::int64_t happened(std::uint64_t event) const { return times_[event]; }

    void advance(std::int64_t to) {
        settle();
        while (now_ < static_cast<double>(to)) {
            double least = 0;
            std::size_t busy = 0;
            for (const auto& [stream, queue] : queues_) {
                if (queue.empty()) continue;
                least = busy == 0 ? queue.front().left : std::min(least, queue.front().left);
                ++busy;
            }
            if (busy == 0) {
                now_ = static_cast<double>(to);
                return;
            }
            const double share = wide ? 1 : static_cast<double>(busy);
            const double step = std::min(static_cast<double>(to) - now_, least * share);
            for (auto& [stream, queue] : queues_) {
                if (!queue.empty()) queue.front().left -= step / share;
            }
            now_ += step;
            busy_ += step;
            settle();
        }
    }

    std::int64_t busy_ns() const { return static_cast<std::int64_t>(busy_); }
    bool idle(Stream stream) const {
        const auto found = queues_.find(stream);
        return found == queues_.end() || found->second.empty();
    }
    bool idle() const {
        for (const auto& [stream, queue] : queues_) {
            if (!queue.empty()) return false;
        }
        return true;
    }
    std::int64_t queued_ns() const {
        double sum = 0;
        for (const auto& [stream, queue] : queues_) {
            for (const Item& item : queue) sum += item.left;
        }
        return static_cast<std::int64_t>(sum);
    }

  private:
    struct Item {
        double left;
        std::uint64_t event;  ///< 0: a kernel
    };

    /// Removes finished entries from the queues.
    void settle() {
        for (auto& [stream, queue] : queues_) {
            while (!queue.empty() && queue.front().left < 0.5) {
                if (queue.front().event != 0) times_[queue.front().event] = static_cast<std::int64_t>(now_);
                queue.pop_front();
            }
        }
    }

    std::map<Stream, std::deque<Item>> queues_;
    std::vector<std::int64_t> times_{-1};  ///< by number
    double now_ = 0;
    double busy_ = 0;
};

}  // namespace cgpu::module::test
