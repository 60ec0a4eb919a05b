#include "daemon/app/looks/second_looks.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::app {

bool SecondLooks::some_gpu_is_missing() const {
    const auto& gpus = outside_.node().gpus();
    return gpus.empty() || outside_.driver_fails() || std::ranges::any_of(gpus, [](const model::Gpu& gpu) {
               return !gpu.present || !gpu.obstacle.empty();
           });
}

bool SecondLooks::something_is_held() const {
    const auto& node = outside_.node();
    return std::ranges::any_of(
        node.gpus(), [&](const model::Gpu& gpu) { return node.held_unmanaged(gpu.uuid) > model::Bytes{}; });
}

bool SecondLooks::may_be_outdated(const model::Refusal& refusal) const {
    using Reason = model::Refusal::Reason;
    if (calling_back_ || waiting_.size() >= kMost) return false;
    switch (refusal.reason) {
        case Reason::not_found:  // a GPU may have been added; no look finds an instance or a process
            return refusal.text.find("GPU") != std::string::npos;
        case Reason::unsupported:
            return some_gpu_is_missing();
        case Reason::no_memory:
        case Reason::no_space:
        case Reason::busy:
            return some_gpu_is_missing() || something_is_held();
        default:
            return false;
    }
}

void SecondLooks::then(std::function<void()> call) {
    waiting_.push_back(std::move(call));
    if (looking_ || next_) return;
    next_ = outside_.loop.at(std::max(outside_.loop.now(), last_begin_ + kBetween), [this] { begin(); });
}

void SecondLooks::begin() {
    next_.reset();
    last_begin_ = outside_.loop.now();
    looking_ = true;
    served_ = std::exchange(waiting_, {});
    outside_.look([this, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) looked();
    });
}

void SecondLooks::looked() {
    looking_ = false;
    calling_back_ = true;
    for (const auto& call : std::exchange(served_, {})) call();
    calling_back_ = false;
    if (waiting_.empty() || next_) return;
    next_ = outside_.loop.at(std::max(outside_.loop.now(), last_begin_ + kBetween), [this] { begin(); });
}

}  // namespace cgpu::app
