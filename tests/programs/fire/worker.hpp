#pragma once

#include "tests/programs/fire/desk.hpp"
#include "tests/programs/fire/journal.hpp"
#include "tests/programs/fire/plan.hpp"

namespace programs::fire {

/// A process that allocates and frees device memory at random in several threads, until it is killed.
[[noreturn]] void work(const Plan& plan, const Journal& journal, unsigned seed, Desk& desk);

}  // namespace programs::fire
