#pragma once

#include <atomic>

#include "core/wire/message.hpp"

namespace cgpu::front {

/// Carries out the daemon's Switch and answers it, on a thread of its own that ends with it. Loading a file
/// waits for the loader's lock, and a program's thread may hold that for long (the constructors of what it
/// loads run under it) and wait for what only the service thread reads.
class Switcher {
  public:
    constexpr Switcher() = default;

    /// One at a time: another one meanwhile is answered `busy`.
    void carry_out(const wire::Switch& order);
    void reset_in_child() { under_way_.store(false); }

  private:
    static void* run(void* self);

    std::atomic<bool> under_way_{false};
    wire::Switch order_{};
};

Switcher& switcher();

}  // namespace cgpu::front
