#pragma once

#include <gtest/gtest.h>

#include "tests/unit/daemon/app/memory/lease_fakes.hpp"

/// Shared by the tests of memory without the module.
namespace cgpu::app::test {

/// Enough for detection: the idle query, those that confirm it, and the patience.
constexpr Nanos kFound = 6'000 * kMs;

inline LeaseSettings with(OnEscape on_escape) {
    LeaseSettings settings;
    settings.on_escape = on_escape;
    return settings;
}

/// A process with a context of 256 MiB and 100 MiB allocated, both announced by the module.
inline void work(LeaseBed& bed, std::int32_t pid) {
    const auto before = bed.used();
    bed.enter(pid);
    ASSERT_EQ((*bed.ask(pid, 0, LeaseAsk::What::context))->why, wire::Why::none);
    ASSERT_EQ((*bed.ask(pid, 100 * kMiB))->why, wire::Why::none);
    bed.fronts.charges[pid] = 100 * kMiB;
    bed.gpus.shown[pid] = 356 * kMiB;
    bed.leases.made(bed.key(pid));
    bed.loop.advance(kSettled);
    ASSERT_EQ(bed.used(), before + 356 * kMiB);
}

}  // namespace cgpu::app::test
