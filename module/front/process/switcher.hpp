#pragma once

#include "core/wire/message.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {

/// Carries out the daemon's Switch and answers it, on a thread of its own that ends with it. Loading a file
/// waits for the loader's lock, and a program's thread may hold that for long (the constructors of what it
/// loads run under it) and wait for what only the service thread reads.
class Switcher {
  public:
    constexpr Switcher() = default;

    /// One at a time. One that comes meanwhile, as of a daemon that was started anew, is carried out next;
    /// the last one, if there are several.
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
