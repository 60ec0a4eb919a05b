// What instances are charged is what the GPU has served: shares are divided by it, and reports bill it.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/unit/core/schedule/schedule_scale.hpp"
#include "tests/unit/core/schedule/schedule_tenants.hpp"

namespace cgpu::schedule::sim {
namespace {

/// It waits for so many kernels of this length, then pauses.
Tenant waits(Nanos kernel, int burst, Nanos pause) {
    Tenant tenant = floods(kernel);
    tenant.work.burst = burst;
    tenant.work.think = pause;
    return tenant;
}

/// By how much the charges of two instances differ from what they got, as a part of the time: the larger one.
double error(const Tenant& one, const Tenant& other, model::Policy policy) {
    World world(under(policy));
    for (const Tenant* each : {&one, &other}) world.add(*each);
    world.run_for(3 * kSecond);
    const auto charged = [&](std::size_t slot) { return world.slicer().achieved(slot).used; };
    const Nanos before[] = {charged(0), charged(1)};
    const Nanos span = 20 * kSecond;
    world.mark();
    world.run_for(span);
    double most = 0;
    for (std::size_t slot = 0; slot < 2; ++slot) {
        const auto off = static_cast<double>(charged(slot) - before[slot] - world.served(slot));
        most = std::max(most, std::abs(off) / static_cast<double>(span));
    }
    return most;
}

std::vector<Tenant> short_kernels() {
    return {floods(100 * kMicro),
            floods(kMilli),
            floods(5 * kMilli),
            floods(20 * kMilli),
            waits(30 * kMilli, 1, 10 * kMilli),
            waits(100 * kMilli, 1, 20 * kMilli),
            waits(500 * kMicro, 1, 20 * kMilli),
            waits(kMilli, 20, 10 * kMilli)};
}

std::vector<Tenant> long_kernels() {
    return {waits(700 * kMilli, 1, 100 * kMilli), floods(700 * kMilli), waits(250 * kMilli, 1, 50 * kMilli)};
}

TEST(Charges, KernelsThatDrainAreChargedWhatTheyGot) {
    const auto all = short_kernels();
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t k = i; k < all.size(); ++k)
            EXPECT_LE(error(all[i], all[k], model::Policy::preemptive), 0.006) << i << " beside " << k;
    }
}

// Found as 33 points too little for a kernel of 700 ms beside an instance that is mostly idle, and 16 percent
// too much for that one.
TEST(Charges, LongerKernelsRunBesideOthersAndShareTheTime) {
    const auto others = short_kernels();
    for (const Tenant& one : long_kernels()) {
        for (std::size_t k = 0; k < others.size(); ++k)
            EXPECT_LE(error(one, others[k], model::Policy::preemptive), 0.045) << "beside " << k;
        for (const Tenant& other : long_kernels())
            EXPECT_LE(error(one, other, model::Policy::preemptive), 0.035);
    }
}

// Of a process that gets no CPU it looks as if it was stopped.
TEST(Charges, OfProcessesWhosePagesStandStillToo) {
    for (Tenant one : long_kernels()) {
        one.silent = true;
        for (Tenant other : {floods(kMilli), waits(100 * kMilli, 1, 20 * kMilli), floods(700 * kMilli)}) {
            other.silent = true;
            EXPECT_LE(error(one, other, model::Policy::preemptive), 0.055);
        }
    }
}

}  // namespace
}  // namespace cgpu::schedule::sim
