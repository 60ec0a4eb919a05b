#include "daemon/system/memory_trim.hpp"

#include <malloc.h>

#include <system_error>
#include <utility>

namespace cgpu::system {
void return_unused_memory() { malloc_trim(0); }

MemoryTrim::MemoryTrim(app::Loop& loop, std::function<void()> trim) : loop_(loop), trim_(std::move(trim)) {}

void MemoryTrim::happened(const app::Event&, const app::Stamp&) { used_memory(); }

void MemoryTrim::used_memory() {
    last_event_ = loop_.now();
    if (!timer_) wait_for_quiet();
}

void MemoryTrim::wait_for_quiet() {
    try {
        timer_ = loop_.at(last_event_ + kQuiet, [this] {
            if (loop_.now() < last_event_ + kQuiet) return wait_for_quiet();
            timer_.reset();
            trim_();
        });
    } catch (const std::system_error&) {
        timer_.reset();  // the loop has ended, as when cgpud stops, or there is no memory for a timer
    }
}

}  // namespace cgpu::system
