// Whatever processes do with device memory and whenever they are killed, the card never holds more than its
// size, each byte is charged once, and in the end nothing is left.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <list>

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/test/support/random_life.hpp"

namespace simgpu::test {
namespace {

struct Life {
    unsigned int seed;
    int steps;
    Nanoseconds length;  ///< Then it is killed, if it hasn't come to its end.
};

std::vector<Life> some_lives() {
    std::vector<Life> lives(*rc::gen::inRange<std::size_t>(1, 5));
    for (Life& life : lives) {
        life = {*rc::gen::arbitrary<unsigned int>(), *rc::gen::inRange(50, 200),
                *rc::gen::inRange<Nanoseconds>(0, 30'000'000)};
    }
    return lives;
}

/// What must hold at any time.
void look(Device& device) {
    Session session(device);
    Ledger ledger(session);
    ledger.reap(kMaxProcesses);
    const Layout& layout = session.layout();
    RC_ASSERT(ledger.used_bytes(0) <= layout.cards[0].memory_bytes);
    std::uint64_t unowned = 0;
    std::vector<std::uint64_t> charged(kMaxProcesses);
    for (std::uint32_t s = 0; s < layout.segment_count; ++s) {
        const Segment& segment = layout.segments[s];
        if (segment.serial == 0) continue;
        const bool owned = segment.owner != kNobody;
        RC_ASSERT(owned == segment.holders.any());
        if (owned) RC_ASSERT(segment.holders.test(segment.owner));
        (owned ? charged[segment.owner] : unowned) += segment.bytes;
    }
    RC_ASSERT(unowned == layout.unowned_bytes[0]);
    for (std::uint32_t slot = 0; slot < layout.process_count; ++slot) {
        const GpuUse& use = layout.processes[slot].gpus[0];
        RC_ASSERT(charged[slot] <= use.allocated_bytes);
        RC_ASSERT(use.allocated_bytes <= layout.cards[0].memory_bytes);
    }
}

/// One process each; they begin when all have their context.
std::list<Child> start(const std::vector<Life>& lives, RandomLife::Post& post) {
    std::list<Child> children;
    for (const Life& life : lives) {
        children.emplace_back([&](const Child::Line& line) {
            use_device(0);
            line.say('c');
            line.wait();
            RandomLife random_life(life.seed, post);
            random_life.live(life.steps);
            random_life.give_all_back();
            line.say('e');
            line.wait();
        });
        RC_ASSERT(children.back().hear() == 'c');
    }
    for (const Child& child : children) child.tell();
    return children;
}

RC_GTEST_PROP(MemoryProperty, NothingIsLostDoubledOrLeftBehind, ()) {
    const std::vector<Life> lives = some_lives();
    TestDevice device(1);
    RandomLife::Post post;
    std::list<Child> children = start(lives, post);
    const Nanoseconds begin = clock_now();
    for (bool living = true; living;) {
        living = false;
        auto child = children.begin();
        for (const Life& life : lives) {
            const bool over = clock_now() - begin > life.length;
            if (over) child->kill();
            living = living || !over;
            ++child;
        }
        look(device.device());
    }
    post.descriptors.close();
    RC_ASSERT(device.used_bytes() == 0U);
    RC_ASSERT(device.unowned_bytes() == 0U);
    RC_ASSERT(device.device().layout().segment_count == 0U);
}

RC_GTEST_PROP(MemoryProperty, WhoGivesAllBackIsChargedForItsContextOnly, ()) {
    const std::vector<Life> lives = some_lives();
    TestDevice device(1);
    RandomLife::Post post;
    std::list<Child> children = start(lives, post);
    for (const Child& child : children) RC_ASSERT(child.hear() == 'e');
    look(device.device());
    for (const Child& child : children) {
        const TestDevice::Use use = device.use(child.pid());
        RC_ASSERT(use.allocated_bytes == 0U);
        RC_ASSERT(use.module_bytes == 0U);
        RC_ASSERT(use.context_bytes == 100 * kMiB);
    }
    // What is in the mailbox stays as long as a process has the mailbox.
    RC_ASSERT(device.used_bytes() == children.size() * 100 * kMiB + device.unowned_bytes());
    for (Child& child : children) child.kill();
    post.descriptors.close();
    RC_ASSERT(device.used_bytes() == 0U);
}

}  // namespace
}  // namespace simgpu::test
