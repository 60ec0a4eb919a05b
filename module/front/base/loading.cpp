#include "module/front/base/loading.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "module/front/base/waiting.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kPatience = 100 * kMillisecond;

constinit std::atomic<std::int32_t> forks{0};
constinit std::atomic<std::int32_t> loading{0};

void wait_while_not_zero(const std::atomic<std::int32_t>& count, std::int64_t until_ns) {
    while (count.load() > 0 && now_ns() < until_ns) sleep_until(now_ns() + 50 * kMicrosecond);
}

void before_fork() {
    forks.fetch_add(1);
    wait_while_not_zero(loading, now_ns() + kPatience);
}

void after_fork_in_parent() { forks.fetch_sub(1); }

void after_fork_in_child() {
    forks.store(0);
    loading.store(0);
}

// When the front is loaded: a fork that has begun asks no handler that is registered meanwhile. Before other
// handlers, because those of the child unload code.
__attribute__((constructor(101))) void handle_forks() {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

}  // namespace

Loading::Loading() {
    const auto until = now_ns() + kPatience;
    loading.fetch_add(1);
    while (forks.load() > 0 && now_ns() < until) {
        loading.fetch_sub(1);
        wait_while_not_zero(forks, until);
        loading.fetch_add(1);
    }
}

Loading::~Loading() {
    loading.fetch_sub(1);
    // A fork that waited for this one doesn't know the handlers of what was loaded: nobody is to be inside
    // that meanwhile.
    wait_while_not_zero(forks, now_ns() + kPatience);
}

}  // namespace cgpu::front
