#include "daemon/app/events/repeated.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::app {

Repeated::~Repeated() {
    if (last_) tell(std::move(*last_), counted_);
}

void Repeated::happened(Event event) {
    if (timer_ != nullptr) {
        ++counted_;
        last_ = std::move(event);
        return;
    }
    pause_ = kFirstPause;
    timer_ = loop_.at(loop_.now() + pause_, [this] { pause_over(); });
    tell(std::move(event), 1);
}

void Repeated::pause_over() {
    if (!last_) {
        timer_.reset();
        return;
    }
    pause_ = std::min(2 * pause_, kLongestPause);
    Event event = std::move(*last_);
    last_.reset();
    const auto count = std::exchange(counted_, 0);
    timer_ = loop_.at(loop_.now() + pause_, [this] { pause_over(); });
    tell(std::move(event), count);
}

void Repeated::tell(Event event, std::uint64_t count) {
    event.details["count"] = count;
    if (count > 1) event.message += " (" + std::to_string(count) + " times since the last such line)";
    tell_(std::move(event));
}

}  // namespace cgpu::app
