// Which engine runs in which process, and how a process is told to change to another.
#include "tests/unit/daemon/link/support/link_bed.hpp"

namespace cgpu::link::test {
namespace {

using Order = Puppet::Order;
const upgrade::Version kNow{0, 1, 0};
const upgrade::Version kNext{0, 1, 1};

struct LinkEngines : LinkTest {
    static bool tell_engine(Puppet& puppet) {
        return puppet.tell(
                   {[](Front& front, const Order&) -> std::uint64_t { return front.tell_engine(); }}) == 1;
    }
    static std::uint64_t runs(Puppet& puppet) {
        return puppet.tell({[](Front& front, const Order&) -> std::uint64_t { return front.runs; }});
    }
    void order(std::size_t came, std::uint64_t request) {
        const auto& front = engines.came.at(came);
        engines.fronts->switch_engine({front.who, front.front, request, kNext, 500},
                                      "0.1.1/libcgpu-engine.so.0.1.1");
    }
};

TEST_F(LinkEngines, AFrontComesWithItsVersionAndSaysWhatItRuns) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(engines.came.size(), 1U);
    EXPECT_EQ(engines.came[0].who.instance, one.id);
    EXPECT_EQ(engines.came[0].who.process.pid, puppet.pid());
    ASSERT_TRUE(tell_engine(puppet));
    ASSERT_TRUE(loop.run_until([&] { return engines.words.size() == 1; }));
    EXPECT_EQ(engines.words[0].result, wire::SwitchResult::running);
    EXPECT_EQ(engines.words[0].version, kNow);
    EXPECT_EQ(engines.words[0].front, engines.came[0].front);
}

TEST_F(LinkEngines, IsToldToGoOverAndItsAnswerIsHandedOn) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    order(0, 7);
    ASSERT_TRUE(loop.run_until([&] { return engines.words.size() == 1; }));
    EXPECT_EQ(engines.words[0].request, 7U);
    EXPECT_EQ(engines.words[0].result, wire::SwitchResult::done);
    EXPECT_EQ(engines.words[0].version, kNext);
    EXPECT_EQ(engines.words[0].detail, "");
    EXPECT_EQ(runs(puppet), kNext.packed());
    puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        front.switch_result = wire::SwitchResult::not_loadable;
        return 0;
    }});
    order(0, 8);
    ASSERT_TRUE(loop.run_until([&] { return engines.words.size() == 2; }));
    EXPECT_EQ(engines.words[1].result, wire::SwitchResult::not_loadable);
    EXPECT_EQ(engines.words[1].detail, "\"no \\n luck\"")
        << "foreign words don't get into the log as they are";
}

TEST_F(LinkEngines, AnObserverHasNoEngine) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one), wire::Role::observe));
    EXPECT_TRUE(engines.came.empty());
    ASSERT_TRUE(tell_engine(puppet));
    ASSERT_TRUE(loop.run_until([&] {
        return puppet.tell({[](Front& front, const Order&) -> std::uint64_t { return front.fd < 0; }}) == 1;
    })) << "its connection is closed";
    EXPECT_TRUE(engines.words.empty());
    EXPECT_TRUE(engines.went.empty());
}

TEST_F(LinkEngines, AConnectionThatBreaksIsLostAndAProcessThatEndsIsGone) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        front.disconnect();
        return 0;
    }});
    ASSERT_TRUE(loop.run_until([&] { return engines.went.size() == 1; }));
    EXPECT_EQ(engines.went[0].front, engines.came[0].front);
    EXPECT_TRUE(engines.ended.empty());
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_EQ(engines.came.size(), 2U);
    EXPECT_NE(engines.came[1].front, engines.came[0].front);
    puppet.kill();
    ASSERT_TRUE(loop.run_until([&] { return engines.ended.size() == 1; }));
    EXPECT_EQ(engines.ended[0].who, engines.came[0].who);
}

TEST_F(LinkEngines, AfterARestartThoseThatLiveAreKnownBeforeTheyConnect) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    stop();
    start();
    ASSERT_EQ(engines.were_known.size(), 1U) << "even without a byte of lease";
    EXPECT_EQ(engines.were_known[0].who.process.pid, puppet.pid());
}

TEST_F(LinkEngines, WhenItsInstanceEndsItsProcessesAreGone) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    server->close(one.id);
    ASSERT_EQ(engines.ended.size(), 1U);
    order(0, 9);  // to nobody
}

}  // namespace
}  // namespace cgpu::link::test
