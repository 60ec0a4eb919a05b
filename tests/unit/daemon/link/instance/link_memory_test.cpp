// Leases over the link, with real processes.
#include <csignal>
#include <random>

#include "tests/unit/daemon/link/support/link_bed.hpp"

namespace cgpu::link::test {
namespace {

using Order = Puppet::Order;

struct LinkMemory : LinkTest {};

TEST_F(LinkMemory, TheLimitIsOfAllProcessesTogetherAndEachInstanceHasItsOwn) {
    Puppet first(loop);
    Puppet second(loop);
    Puppet other(loop);
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    ASSERT_TRUE(other.connect(socket(two)));
    EXPECT_EQ(first.ask(60 * kMiB), 60 * kMiB);
    first.charge(60 * kMiB);
    EXPECT_EQ(second.ask(50 * kMiB), 0U);
    EXPECT_EQ(second.ask(40 * kMiB), 40 * kMiB);
    EXPECT_GE(other.ask(90 * kMiB), 90 * kMiB);
    EXPECT_EQ(leased(one), 100 * kMiB);
}

TEST_F(LinkMemory, ARefusalSaysLimitAndUse) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(puppet.ask(60 * kMiB), 60 * kMiB);
    puppet.charge(60 * kMiB);
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        const auto answer = front.ask(wire::Topic::lease, 50 * kMiB);
        if (!answer || answer->why != wire::Why::over_limit || answer->granted_bytes != 0) return 1;
        if (answer->limit_bytes != 100 * kMiB || answer->used_bytes != 60 * kMiB) return 2;
        const auto odd = front.ask(wire::Topic::lease, 12345);
        if (!odd || odd->why != wire::Why::bad_request) return 3;
        const auto gpu = front.ask(wire::Topic::lease, 2 * kMiB, 7);
        if (!gpu || gpu->why != wire::Why::unknown_gpu) return 4;
        return 0;
    }}),
              0U);
}

TEST_F(LinkMemory, ARefusedAllocationIsCountedWhenTheFrontHasGivenItUp) {
    Puppet puppet(loop);
    Puppet watcher(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_TRUE(watcher.connect(socket(one), wire::Role::observe));
    const auto& gpu = one.quotas[0].gpu;
    // It is answered only if it can't be true: 100 and why. What is asked afterwards has an answer.
    const Order give_up{[](Front& front, const Order&) -> std::uint64_t {
        auto refused = wire::make_message<wire::Ask>(1000);
        refused.topic = wire::Topic::refused;
        refused.bytes = 90 * kMiB;
        auto usage = wire::make_message<wire::Ask>(1001);
        usage.topic = wire::Topic::usage;
        if (!front.send(refused) || !front.send(usage)) return 99;
        while (true) {
            const auto packet = front.receive();
            if (packet.empty()) return 98;
            const auto answer = wire::read_message<wire::Answer>(packet);
            if (answer && answer->header.request == 1000)
                return 100 + static_cast<std::uint64_t>(answer->why);
            if (answer && answer->header.request == 1001) return static_cast<std::uint64_t>(answer->why);
        }
    }};
    EXPECT_EQ(puppet.tell(give_up), 0U);
    EXPECT_EQ(leases->pools().refused(one.id, gpu), 0U) << "nothing was refused";
    EXPECT_EQ(puppet.ask(120 * kMiB), 0U);
    EXPECT_EQ(puppet.ask(120 * kMiB), 0U);
    EXPECT_EQ(puppet.tell(give_up), 0U);
    EXPECT_EQ(leases->pools().refused(one.id, gpu), 1U);
    EXPECT_EQ(leases->pools().refused(two.id, gpu), 0U);
    EXPECT_EQ(watcher.tell(give_up), 100 + static_cast<std::uint64_t>(wire::Why::bad_request));
    EXPECT_EQ(leases->pools().refused(one.id, gpu), 1U);
}

/// It ends before cgpud reads any of it, and can't be answered any more.
TEST_F(LinkMemory, WhatAProcessSaidRightBeforeItsEndCounts) {
    gpus.used = 0;
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(puppet.ask(60 * kMiB), 60 * kMiB);
    puppet.charge(60 * kMiB);
    puppet.start({[](Front& front, const Order&) -> std::uint64_t {
        auto ask = wire::make_message<wire::Ask>(1);
        for (int i = 0; i < 200; ++i) {
            ask.topic = i == 199 ? wire::Topic::exported : wire::Topic::usage;
            ask.bytes = i == 199 ? 40 * kMiB : 0;
            if (!front.send(ask)) return 1;
        }
        return 0;
    }});
    std::optional<std::uint64_t> sent;
    while (!sent) sent = puppet.result();
    ASSERT_EQ(sent, 0U);
    gpus.used = 40 * kMiB;  // a descriptor keeps it
    puppet.kill();
    ASSERT_TRUE(loop.run_until([&] { return leased(one) < 60 * kMiB; }));
    EXPECT_EQ(leased(one), 40 * kMiB);
    EXPECT_TRUE(idle.empty());
    gpus.used = 0;
    EXPECT_TRUE(loop.run_until([&] { return leased(one) == 0; }));
    EXPECT_TRUE(loop.run_until([&] { return idle.contains(one.id); }));
}

/// As when a program ends for lack of memory. Nobody waited until cgpud had counted it.
TEST_F(LinkMemory, ARefusalCountsThatAProcessReportedRightBeforeItsEnd) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    EXPECT_EQ(puppet.ask(120 * kMiB), 0U);
    puppet.start({[](Front& front, const Order&) -> std::uint64_t {
        auto ask = wire::make_message<wire::Ask>(1);
        ask.topic = wire::Topic::refused;
        ask.bytes = 120 * kMiB;
        return front.send(ask) ? 0 : 1;
    }});
    std::optional<std::uint64_t> sent;
    while (!sent) sent = puppet.result();
    ASSERT_EQ(sent, 0U);
    puppet.kill();
    const auto& gpu = one.quotas[0].gpu;
    EXPECT_TRUE(loop.run_until([&] { return leases->pools().refused(one.id, gpu) == 1; }));
}

/// Whatever a process says in bytes, behind the link they are whole granules.
TEST_F(LinkMemory, BytesBecomeWholeGranulesWhereTheyComeIn) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(puppet.ask(60 * kMiB), 60 * kMiB);
    puppet.charge(20 * kMiB);
    const auto say = [&](wire::Topic topic, std::uint64_t bytes) {
        return puppet.tell({[](Front& front, const Order& order) -> std::uint64_t {
                                const auto answer =
                                    front.ask(static_cast<wire::Topic>(order.text[0]), order.number);
                                return answer && answer->why == wire::Why::none ? answer->granted_bytes : 1;
                            },
                            bytes,
                            {static_cast<char>(topic)}});
    };
    const Order give{[](Front& front, const Order&) -> std::uint64_t {
        auto message = wire::make_message<wire::Give>();
        message.bytes = 3 * kMiB;
        front.send(message);
        return front.ask(wire::Topic::usage, 0) ? 0 : 1;  // it has been read
    }};
    EXPECT_EQ(puppet.tell(give), 0U);
    EXPECT_EQ(leased(one), 58 * kMiB);
    EXPECT_EQ(say(wire::Topic::load, 3 * kMiB), 4 * kMiB);
    EXPECT_EQ(leased(one), 62 * kMiB);
    EXPECT_EQ(say(wire::Topic::not_made, 3 * kMiB), 0U);
    EXPECT_EQ(leased(one), 58 * kMiB);
    EXPECT_EQ(say(wire::Topic::lease_held, 55 * kMiB), 0U);
    EXPECT_EQ(leased(one), 56 * kMiB);
}

TEST_F(LinkMemory, WhatASiblingDoesNotUseIsRecalled) {
    Puppet first(loop);
    Puppet second(loop);
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    ASSERT_EQ(first.ask(90 * kMiB), 90 * kMiB);
    first.charge(30 * kMiB);
    EXPECT_EQ(second.ask(60 * kMiB), 60 * kMiB);
    EXPECT_EQ(first.lease(), 40 * kMiB);
    EXPECT_LE(leased(one), 100 * kMiB);
}

TEST_F(LinkMemory, AStoppedSiblingDelaysAnAnswerButDoesNotHoldItBack) {
    Puppet first(loop);
    Puppet second(loop);
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    ASSERT_EQ(first.ask(90 * kMiB), 90 * kMiB);
    ::kill(first.pid(), SIGSTOP);
    EXPECT_EQ(second.ask(60 * kMiB), 0U);
    EXPECT_EQ(second.ask(8 * kMiB), 8 * kMiB);
    ::kill(first.pid(), SIGCONT);
    ASSERT_TRUE(loop.run_until([&] { return leased(one) < 60 * kMiB; })) << "the old recall is answered";
    EXPECT_EQ(second.ask(60 * kMiB), 60 * kMiB);
}

TEST_F(LinkMemory, AKilledProcessGivesBackWhenTheDriverHasFreed) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(puppet.ask(80 * kMiB), 80 * kMiB);
    puppet.charge(80 * kMiB);
    const auto pid = puppet.pid();
    gpus.shown[pid] = 80 * kMiB;
    puppet.kill();
    ASSERT_TRUE(loop.run_until([&] { return divider.removed == 1; }));
    EXPECT_EQ(leased(one), 80 * kMiB);
    EXPECT_FALSE(server->idle(one.id));
    EXPECT_TRUE(idle.empty());
    gpus.shown.erase(pid);
    ASSERT_TRUE(loop.run_until([&] { return leased(one) == 0; }));
    ASSERT_TRUE(loop.run_until([&] { return idle.contains(one.id); }));
    EXPECT_TRUE(server->idle(one.id));
}

TEST_F(LinkMemory, AClosedSocketEndsNothing) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(puppet.ask(80 * kMiB), 80 * kMiB);
    puppet.charge(10 * kMiB);
    puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        front.disconnect();
        return 0;
    }});
    loop.settle();
    EXPECT_EQ(leased(one), 80 * kMiB);
    EXPECT_EQ(divider.removed, 0);
    EXPECT_TRUE(idle.empty());
    // It reconnects: the same process, new pages, its lease unchanged.
    auto* old = divider.pages[puppet.pid()]->orders;
    ASSERT_TRUE(puppet.connect(socket(one)));
    EXPECT_EQ(divider.removed, 1);
    EXPECT_EQ(divider.added, 2);
    EXPECT_NE(divider.pages[puppet.pid()]->orders, old);
    EXPECT_EQ(leased(one), 80 * kMiB);
    EXPECT_EQ(puppet.ask(20 * kMiB), 20 * kMiB);
}

TEST_F(LinkMemory, AFrontThatStartsAnewGivesAllThatItsProcessHad) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(puppet.ask(80 * kMiB), 80 * kMiB);
    puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        front.give(~0ull);
        return 0;
    }});
    EXPECT_EQ(puppet.ask(90 * kMiB), 90 * kMiB);
}

TEST_F(LinkMemory, AChildThatInheritsTheSocketDoesNotKeepTheLease) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(puppet.ask(80 * kMiB), 80 * kMiB);
    const auto child = static_cast<pid_t>(puppet.tell({[](Front&, const Order&) -> std::uint64_t {
        const pid_t forked = fork();
        if (forked == 0)
            for (;;) pause();
        return static_cast<std::uint64_t>(forked);
    }}));
    puppet.kill();
    EXPECT_TRUE(loop.run_until([&] { return leased(one) == 0; }));
    ::kill(child, SIGKILL);
}

TEST_F(LinkMemory, KilledAtAnyMomentAProcessLeavesNothing) {
    Puppet survivor(loop);
    ASSERT_TRUE(survivor.connect(socket(one)));
    ASSERT_EQ(survivor.ask(20 * kMiB), 32 * kMiB);
    survivor.charge(20 * kMiB);
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
        Puppet victim(loop);
        Order order{[](Front& front, const Order& o) -> std::uint64_t {
            for (;;) {
                if (!front.connect(o.text) || front.hello(wire::Role::compute) != wire::Why::none) continue;
                for (int i = 0; i < 20; ++i) {
                    const auto answer =
                        front.ask(i % 7 == 3 ? wire::Topic::context : wire::Topic::lease, 10 * kMiB);
                    if (!answer) break;
                    front.charge(front.lease / 2);
                    if (i % 5 == 0) front.give(front.lease - front.charged);
                    if (i % 11 == 0) front.ask(wire::Topic::made, 0);
                }
            }
        }};
        wire::put_text(order.text, socket(one));
        victim.start(order);
        // Some turns of the daemon, so that it is killed at another step each time.
        int turns = static_cast<int>(random() % 60);
        loop.run_until([&] { return turns-- == 0; });
        victim.kill();
        ASSERT_LE(leased(one), 100 * kMiB);
    }
    ASSERT_TRUE(loop.run_until([&] { return leased(one) == survivor.lease(); }));
    EXPECT_EQ(survivor.ask(68 * kMiB), 68 * kMiB) << "all the rest";
    EXPECT_EQ(file->saved().size(), 1U);
}

TEST_F(LinkMemory, ManyProcessesAtOnceNeverExceedTheLimit) {
    std::vector<std::unique_ptr<Puppet>> puppets;
    for (int i = 0; i < 8; ++i) {
        puppets.push_back(std::make_unique<Puppet>(loop));
        ASSERT_TRUE(puppets.back()->connect(socket(one)));
    }
    for (std::size_t i = 0; i < puppets.size(); ++i)
        puppets[i]->start({[](Front& front, const Order& order) -> std::uint64_t {
                               std::mt19937_64 random(order.number);
                               for (int n = 0; n < 200; ++n) {
                                   const auto bytes = (1 + random() % 20) * 2 * kMiB;
                                   if (!front.ask(wire::Topic::lease, bytes)) return 0;
                                   front.charge(std::min(front.lease, random() % (60 * kMiB)));
                                   if (random() % 3 == 0) front.charge(0);
                                   if (random() % 3 == 0) front.give(front.lease - front.charged);
                               }
                               front.charge(0);
                               return 1;
                           },
                           i});
    std::size_t done = 0;
    ASSERT_TRUE(loop.run_until(
        [&] {
            EXPECT_LE(leased(one), 100 * kMiB);
            for (const auto& puppet : puppets) done += puppet->result() == 1U;
            return done == puppets.size();
        },
        60));
    std::uint64_t sum = 0;
    for (const auto& puppet : puppets) sum += puppet->lease();
    EXPECT_EQ(sum, leased(one));
    EXPECT_GE(puppets[0]->ask(100 * kMiB - puppets[0]->lease()), 2 * kMiB);
}

TEST_F(LinkMemory, AnInstanceThatIsClosedLetsItsProcessesGo) {
    Puppet puppet(loop);
    Puppet other(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_TRUE(other.connect(socket(two)));
    ASSERT_GE(puppet.ask(50 * kMiB), 50 * kMiB);
    server->close(one.id);
    EXPECT_EQ(divider.removed, 1);
    EXPECT_FALSE(std::filesystem::exists(runtime_dir / "instances" / "one"));
    EXPECT_EQ(puppet.ask(2 * kMiB), 0U);
    EXPECT_FALSE(puppet.connect(socket(one)));
    EXPECT_GE(other.ask(50 * kMiB), 50 * kMiB);
    EXPECT_TRUE(server->idle(one.id));
}

}  // namespace
}  // namespace cgpu::link::test
