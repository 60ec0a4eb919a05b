#pragma once

#include "core/wire/message.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {

/// Carries out the daemon's Switch and answers it, on a thread of its own that ends with it. Loading a file
/// waits for the loader's lock. A thread of the program may hold that lock for long (constructors of
/// libraries run under it) and wait for messages that only the service thread reads.
class Switcher {
  public:
    constexpr Switcher() = default;

    /// Carries out one order at a time. An order that comes meanwhile, for example from a restarted daemon,
    /// is carried out next; of several the last one.
    void carry_out(const wire::Switch& order);
    void reset_in_child();

  private:
    static void* run(void* self);
    /// False: there is none, and the thread ends.
    bool take_order(wire::Switch& order);

    Mutex mutex_;
    bool running_ = false;
    bool ordered_ = false;
    wire::Switch order_{};
};

Switcher& switcher();

}  // namespace cgpu::front
