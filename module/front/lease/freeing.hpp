#pragma once

#include "module/front/session/session.hpp"

namespace cgpu::front {

/// Around a driver call that may free charged memory, and its released().
class Freeing {
  public:
    Freeing() { session().engine().freeing(true); }
    ~Freeing() { session().engine().freeing(false); }
    Freeing(const Freeing&) = delete;
    Freeing& operator=(const Freeing&) = delete;

  private:
    Uncancelled uncancelled_;
};

/// Ends a charge after a successful free. False: nothing was charged for the key.
bool released(module::Holding kind, std::uint64_t key);

}  // namespace cgpu::front
