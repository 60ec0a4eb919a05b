// What an instance's processes are told about each other.
#include "tests/unit/daemon/link/support/link_bed.hpp"

namespace cgpu::link::test {
namespace {

using Order = Puppet::Order;

constexpr std::uint64_t kNotListed = ~0ull;

struct LinkProcesses : LinkTest {
    /// The use of the process, as `asker` is told.
    static std::uint64_t told(Puppet& asker, pid_t pid) {
        return asker.tell({[](Front& front, const Order& order) -> std::uint64_t {
                               for (const auto& use : front.processes())
                                   if (use.pid == order.number) return use.used_bytes;
                               return kNotListed;
                           },
                           static_cast<std::uint64_t>(pid)});
    }
    /// How many processes it is told of, each once.
    static std::uint64_t count_told(Puppet& asker) {
        return asker.tell({[](Front& front, const Order&) -> std::uint64_t {
            const auto uses = front.processes();
            for (std::size_t i = 1; i < uses.size(); ++i)
                if (uses[i].pid <= uses[i - 1].pid) return kNotListed;
            return uses.size();
        }});
    }
};

TEST_F(LinkProcesses, AreThoseOfTheInstanceThatHaveMemoryWithWhatEachHas) {
    Puppet first(loop);
    Puppet second(loop);
    Puppet idle_one(loop);
    Puppet other(loop);
    Puppet observer(loop);
    for (Puppet* puppet : {&first, &second, &idle_one}) ASSERT_TRUE(puppet->connect(socket(one)));
    ASSERT_TRUE(other.connect(socket(two)));
    ASSERT_TRUE(observer.connect(socket(one), wire::Role::observe));
    ASSERT_GE(first.ask(60 * kMiB), 60 * kMiB);
    ASSERT_GE(second.ask(20 * kMiB), 20 * kMiB);
    ASSERT_GE(other.ask(20 * kMiB), 20 * kMiB);
    first.charge(50 * kMiB);
    second.charge(20 * kMiB);
    other.charge(10 * kMiB);
    for (Puppet* asker : {&observer, &first}) {
        EXPECT_EQ(told(*asker, first.pid()), 50 * kMiB);
        EXPECT_EQ(told(*asker, second.pid()), 20 * kMiB);
        EXPECT_EQ(count_told(*asker), 2U);
    }
    EXPECT_EQ(leases->pools().used(one.id, one.quotas[0].gpu), 70 * kMiB) << "what they have together";
    EXPECT_EQ(told(other, other.pid()), 10 * kMiB);
    EXPECT_EQ(count_told(other), 1U);
}

TEST_F(LinkProcesses, WhoHasEndedIsNotListedThoughItsMemoryIsNotBackYet) {
    Puppet puppet(loop);
    Puppet observer(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    ASSERT_TRUE(observer.connect(socket(one), wire::Role::observe));
    ASSERT_GE(puppet.ask(10 * kMiB), 10 * kMiB);
    puppet.charge(10 * kMiB);
    const auto pid = puppet.pid();
    gpus.shown[pid] = 10 * kMiB;
    ASSERT_EQ(told(observer, pid), 10 * kMiB);
    puppet.kill();
    ASSERT_TRUE(loop.run_until([&] { return divider.removed == 1; }));
    EXPECT_GT(leased(one), 0U);
    EXPECT_EQ(told(observer, pid), kNotListed);
}

TEST_F(LinkProcesses, MoreThanAPageComeEachOnce) {
    constexpr std::size_t kMany = wire::Processes::kMost * 2 + 1;
    one = make("one", 1024 * kMiB);
    server->refresh(one);
    std::vector<std::unique_ptr<Puppet>> puppets;
    for (std::size_t i = 0; i < kMany; ++i) {
        puppets.push_back(std::make_unique<Puppet>(loop));
        ASSERT_TRUE(puppets.back()->connect(socket(one)));
        ASSERT_GE(puppets.back()->ask(2 * kMiB), 2 * kMiB);
        puppets.back()->charge(2 * kMiB);
    }
    EXPECT_EQ(count_told(*puppets.front()), kMany);
}

TEST_F(LinkProcesses, AGpuThatIsNotTheInstancesIsRefused) {
    Puppet observer(loop);
    ASSERT_TRUE(observer.connect(socket(one), wire::Role::observe));
    EXPECT_EQ(observer.tell({[](Front& front, const Order&) -> std::uint64_t {
        auto ask = wire::make_message<wire::AskProcesses>(77);
        ask.gpu = 9;
        if (!front.send(ask)) return 1;
        const auto answer = wire::read_message<wire::Processes>(front.receive());
        if (!answer || answer->header.request != 77) return 2;
        return answer->why == wire::Why::unknown_gpu && answer->count == 0 ? 0 : 3;
    }}),
              0U);
}

}  // namespace
}  // namespace cgpu::link::test
