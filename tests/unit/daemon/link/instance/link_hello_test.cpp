// Connecting: which processes are accepted, what is refused, and that no packet of one process harms another.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "tests/unit/daemon/link/support/link_bed.hpp"

namespace cgpu::link::test {
namespace {

using Order = Puppet::Order;

Order with_text(Order order, const std::string& text) {
    wire::put_text(order.text, text);
    return order;
}

struct LinkHello : LinkTest {
    /// Connects in the puppet and sends bytes instead of a Hello; returns 1 when the daemon has ended the
    /// connection.
    std::uint64_t send_garbage(Puppet& puppet, std::uint64_t seed) {
        return puppet.tell(with_text({[](Front& front, const Order& order) -> std::uint64_t {
                                          if (!front.connect(order.text)) return 0;
                                          std::mt19937_64 random(order.number);
                                          std::vector<unsigned char> bytes(1 + random() % 1500);
                                          for (auto& byte : bytes)
                                              byte = static_cast<unsigned char>(random());
                                          // Half of them look valid at the start.
                                          auto hello = wire::make_message<wire::Hello>();
                                          hello.header.kind = static_cast<wire::Kind>(random() % 10);
                                          if (random() % 2 == 0 && bytes.size() >= sizeof hello)
                                              std::memcpy(bytes.data(), &hello, sizeof hello);
                                          front.send_bytes(bytes.data(), bytes.size());
                                          while (!front.receive().empty()) {
                                          }
                                          return 1;
                                      },
                                      seed},
                                     socket(one)));
    }
};

TEST_F(LinkHello, TheFolderAndSocketAreOpenToEveryUserAndTheParentsReadable) {
    struct stat folder {};
    struct stat node {};
    ASSERT_EQ(stat(std::filesystem::path(socket(one)).parent_path().c_str(), &folder), 0);
    ASSERT_EQ(stat(socket(one).c_str(), &node), 0);
    EXPECT_EQ(folder.st_mode & 0777U, 0755U);
    EXPECT_EQ(node.st_mode & 0777U, 0666U);
    EXPECT_TRUE(S_ISSOCK(node.st_mode));
}

TEST_F(LinkHello, AWelcomeSaysWhatAProcessMustKnow) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        const auto& w = *front.welcome;
        const auto& gpu = front.orders->gpus[0];
        if (w.version != wire::kVersion || w.gpu_count != 1) return 1;
        if (std::string(w.instance) != "one") return 2;
        if (std::string(w.engine) != "0.1.0/libcgpu-engine.so.0.1.0") return 3;
        if (w.context_estimate_bytes != 256 * kMiB) return 4;
        if (front.orders->magic != wire::kOrdersMagic || front.orders->gpu_count != 1) return 5;
        if (front.reports->magic != wire::kReportsMagic) return 6;
        if (front.doorbell->magic != wire::kDoorbellMagic) return 7;
        if (gpu.uuid[0] != 1 || gpu.limit_bytes.load() != 100 * kMiB) return 8;
        if (gpu.total_bytes.load() != 512 * kMiB || gpu.isolate_memory.load() != 1) return 9;
        if (front.orders->gates[0].holds_until_ns.load() <= 0) return 10;
        return 0;
    }}),
              0U);
    ASSERT_TRUE(divider.pages.contains(puppet.pid()));
    EXPECT_EQ(divider.pages[puppet.pid()]->process, *processes.identify(puppet.pid()));
}

TEST_F(LinkHello, AnObserverGetsTheOrdersAndUsageOnly) {
    Puppet worker(loop);
    ASSERT_TRUE(worker.connect(socket(one)));
    ASSERT_GE(worker.ask(40 * kMiB), 40 * kMiB);
    worker.charge(40 * kMiB);
    Puppet observer(loop);
    ASSERT_TRUE(observer.connect(socket(one), wire::Role::observe));
    EXPECT_EQ(divider.added, 1);
    EXPECT_EQ(observer.tell({[](Front& front, const Order&) -> std::uint64_t {
        if (front.page_fds.size() != 1) return 1;
        const auto usage = front.ask(wire::Topic::usage, 0);
        if (!usage || usage->used_bytes != 40 * kMiB || usage->limit_bytes != 100 * kMiB) return 2;
        const auto lease = front.ask(wire::Topic::lease, 2 * kMiB);
        return lease && lease->why == wire::Why::bad_request && lease->granted_bytes == 0 ? 0 : 3;
    }}),
              0U);
    auto wider = one;
    wider.quotas[0].memory_limit = model::Bytes(200 * kMiB);
    server->refresh(wider);
    EXPECT_EQ(
        observer.tell({[](Front& front, const Order&) { return front.orders->gpus[0].limit_bytes.load(); }}),
        200 * kMiB);
}

TEST_F(LinkHello, AnObserverSeesTheShareOfItsInstanceWhenItAsksForUsage) {
    Puppet observer(loop);
    Puppet of_another(loop);
    ASSERT_TRUE(observer.connect(socket(one), wire::Role::observe));
    ASSERT_TRUE(of_another.connect(socket(two), wire::Role::observe));
    const auto seen = [](Puppet& puppet) {
        return puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
            if (!front.ask(wire::Topic::usage, 0)) return 9999;
            return front.orders->gpus[0].achieved_share.load();
        }});
    };
    EXPECT_EQ(seen(observer), 0U) << "not measured";
    // It isn't looked up for each question.
    const auto comes_to_see = [&](std::uint64_t word) {
        const auto until = loop.now() + 5 * app::kSecond;
        while (seen(observer) != word && loop.now() < until) {
        }
        return seen(observer) == word;
    };
    share = 0.2504;
    EXPECT_TRUE(comes_to_see(251));
    EXPECT_EQ(seen(of_another), 0U);
    share = 0;
    EXPECT_TRUE(comes_to_see(1));
    share = 7;
    EXPECT_TRUE(comes_to_see(1001));
}

TEST_F(LinkHello, OtherVersionsAreRefusedWithASentence) {
    for (const auto& [oldest, newest, good] :
         {std::tuple{wire::kVersion + 1, 9U, false}, std::tuple{0U, wire::kOldestVersion - 1, false},
          std::tuple{1U, 9U, true}, std::tuple{wire::kVersion, wire::kVersion + 1, true}}) {
        Puppet puppet(loop);
        const auto why = puppet.tell(with_text({[](Front& front, const Order& order) -> std::uint64_t {
                                                    front.connect(order.text);
                                                    const auto got = front.hello(
                                                        wire::Role::compute,
                                                        static_cast<std::uint32_t>(order.number >> 32),
                                                        static_cast<std::uint32_t>(order.number));
                                                    return got ? static_cast<std::uint64_t>(*got) : 99;
                                                },
                                                std::uint64_t{oldest} << 32 | newest},
                                               socket(one)));
        EXPECT_EQ(why, good ? 0U : static_cast<std::uint64_t>(wire::Why::unsupported_version));
    }
}

TEST_F(LinkHello, GarbageHarmsNobodyElse) {
    Puppet good(loop);
    ASSERT_TRUE(good.connect(socket(one)));
    Puppet bad(loop);
    for (std::uint64_t seed = 0; seed < 300; ++seed) ASSERT_EQ(send_garbage(bad, seed), 1U) << seed;
    EXPECT_GE(good.ask(10 * kMiB), 10 * kMiB);
    EXPECT_TRUE(bad.connect(socket(one))) << "and it may do better";
}

TEST_F(LinkHello, FiveThousandRandomPacketsHarmNobodyElse) {
    Puppet good(loop);
    ASSERT_TRUE(good.connect(socket(one)));
    Puppet neighbour(loop);
    ASSERT_TRUE(neighbour.connect(socket(two)));
    Puppet bad(loop);
    const auto sent = bad.tell(with_text(
        {[](Front& front, const Order& order) -> std::uint64_t {
             std::mt19937_64 random(order.number);
             std::uint64_t count = 0;
             while (count < 5000) {
                 if (front.fd < 0 && !(front.connect(order.text) && front.hello(wire::Role::compute)))
                     return count;
                 // Mostly well-formed packets with random contents, so that they pass the length check.
                 unsigned char bytes[600];
                 for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
                 static constexpr std::size_t kSizes[] = {0, 32, 288, 256, 32, 48, 32, 32, 88};
                 const auto kind = random() % 9;
                 const auto size = random() % 8 == 0 ? random() % sizeof bytes : kSizes[kind];
                 const wire::Header header{static_cast<wire::Kind>(kind), static_cast<std::uint32_t>(size),
                                           random()};
                 std::memcpy(bytes, &header, sizeof header);
                 if (random() % 2 == 0) std::memset(bytes + sizeof header, static_cast<int>(random() % 3), 8);
                 if (!front.send_bytes(bytes, size)) front.disconnect();
                 ++count;
                 // Reads now and then, so that its own answers don't fill the socket.
                 if (count % 8 == 0) front.disconnect();
             }
             return count;
         },
         77},
        socket(one)));
    EXPECT_EQ(sent, 5000U);
    EXPECT_EQ(neighbour.ask(90 * kMiB), 90 * kMiB);
    bad.kill();
    const auto free = [&] { return leased(one) == 0; };
    ASSERT_TRUE(loop.run_until(free)) << "what it got goes with it";
    EXPECT_GE(good.ask(10 * kMiB), 10 * kMiB);
}

TEST_F(LinkHello, AClientThatDoesNotReadLosesItsConnectionAndNothingBlocks) {
    Puppet deaf(loop);
    ASSERT_TRUE(deaf.connect(socket(one)));
    const auto sent = deaf.tell({[](Front& front, const Order&) -> std::uint64_t {
        auto ask = wire::make_message<wire::Ask>(1);
        ask.topic = wire::Topic::usage;
        std::uint64_t count = 0;
        while (count < 200'000 && front.send(ask)) ++count;
        return count;
    }});
    EXPECT_LT(sent, 200'000U);
    Puppet good(loop);
    EXPECT_TRUE(good.connect(socket(one)));
}

TEST_F(LinkHello, WhoDoesNotSayHelloIsClosed) {
    stop();
    settings.hello_deadline = 20'000'000;
    start();
    Puppet silent(loop);
    EXPECT_EQ(silent.tell(with_text({[](Front& front, const Order& order) -> std::uint64_t {
                                        if (!front.connect(order.text)) return 1;
                                        return front.receive().empty() ? 0 : 2;
                                    }},
                                    socket(one))),
              0U);
}

TEST_F(LinkHello, TooManyConnectionsAndProcessesAreRefused) {
    stop();
    settings.max_processes = 2;
    start();
    Puppet first(loop);
    EXPECT_EQ(first.tell(with_text({[](Front&, const Order& order) -> std::uint64_t {
                                       std::uint64_t good = 0;
                                       Front fronts[6];
                                       for (auto& front : fronts) {
                                           if (!front.connect(order.text)) continue;
                                           const auto why = front.hello(wire::Role::compute);
                                           if (why == wire::Why::none)
                                               ++good;
                                           else if (why != wire::Why::too_many_processes)
                                               return 99;
                                       }
                                       return good;
                                   }},
                                   socket(one))),
              4U);
    EXPECT_EQ(divider.added, 1) << "all of its fronts have the same pages";
    Puppet second(loop);
    EXPECT_TRUE(second.connect(socket(one)));
    Puppet third(loop);
    EXPECT_FALSE(third.connect(socket(one)));
    second.kill();
    ASSERT_TRUE(loop.run_until([&] { return divider.removed == 1; }));
    EXPECT_TRUE(third.connect(socket(one)));
}

TEST_F(LinkHello, StrangersAreBounded) {
    stop();
    settings.max_strangers = 3;
    start();
    Puppet greedy(loop);
    EXPECT_EQ(greedy.tell(with_text({[](Front&, const Order& order) -> std::uint64_t {
                                        // The fourth is closed before its Hello; the others are kept.
                                        Front fronts[4];
                                        for (auto& front : fronts)
                                            if (!front.connect(order.text)) return 99;
                                        if (!fronts[3].receive().empty()) return 98;
                                        std::uint64_t good = 0;
                                        for (int i = 0; i < 3; ++i)
                                            good += fronts[i].hello(wire::Role::observe) == wire::Why::none;
                                        return good;
                                    }},
                                    socket(one))),
              3U);
}

TEST_F(LinkHello, NoticesAreTakenAndAForeignOneClosesTheConnection) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        auto notice = wire::make_message<wire::Notice>();
        notice.event = wire::Event::managed_memory_refused;
        wire::put_text(notice.detail, "cuMemAllocManaged\n\x1b[31m");
        for (int i = 0; i < 100; ++i)
            if (!front.send(notice)) return 1;
        if (!front.ask(wire::Topic::usage, 0)) return 2;
        notice.event = static_cast<wire::Event>(77);
        front.send(notice);
        const auto last = front.receive();
        const auto refused = wire::read_message<wire::Refused>(last);
        return refused && refused->why == wire::Why::bad_request && front.receive().empty() ? 0 : 3;
    }}),
              0U);
}

/// Both come as the same event.
TEST_F(LinkHello, ANoticeOfACheckpointIsToldApartFromOneOfManagedMemory) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    testing::internal::CaptureStdout();
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        auto notice = wire::make_message<wire::Notice>();
        notice.event = wire::Event::managed_memory_refused;
        for (const char* what : {"cuMemAllocManaged", "cuCheckpointProcessRestore"}) {
            wire::put_text(notice.detail, what);
            if (!front.send(notice)) return 1;
        }
        return front.ask(wire::Topic::usage, 0) ? 0 : 2;
    }}),
              0U);
    const auto log = testing::internal::GetCapturedStdout();
    const auto managed = log.find("managed memory was refused");
    const auto checkpoint = log.find("a checkpoint was refused");
    EXPECT_LT(managed, log.find("cuMemAllocManaged")) << log;
    EXPECT_LT(log.find("cuMemAllocManaged"), checkpoint) << log;
    EXPECT_LT(checkpoint, log.find("cuCheckpointProcessRestore")) << log;
    EXPECT_EQ(log.find("managed memory", managed + 1), std::string::npos) << log;
}

struct Told final : app::EventOutlet {
    void happened(const app::Event& event, const app::Stamp&) override { all.push_back(event); }
    std::vector<app::Event> all;
};

/// Programs try again and again: one line at once for each reason, and never what they send as it is.
TEST_F(LinkHello, AProgramWithoutADriverIsAnEventForEachReason) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    Told told;
    events.add(told);
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        auto notice = wire::make_message<wire::Notice>();
        notice.event = wire::Event::driver_unreachable;
        for (const auto why :
             {wire::kNoProc, wire::kNoDevice, wire::kCantHide, std::string_view("cut\x1b[31m")})
            for (int i = 0; i < 100; ++i) {
                wire::put_text(notice.detail, why);
                if (!front.send(notice)) return 1;
            }
        return front.ask(wire::Topic::usage, 0) ? 0 : 2;
    }}),
              0U);
    const auto pid = puppet.pid();
    server.reset();  // the rest is told
    std::map<std::string, std::vector<std::uint64_t>> counts;
    for (const auto& event : told.all) {
        EXPECT_EQ(event.type, app::EventType::driver_unreachable);
        EXPECT_EQ(event.instance, one.id);
        EXPECT_EQ(event.process, pid);
        EXPECT_NE(event.message.find("Try: "), std::string::npos) << event.message;
        EXPECT_EQ(event.message.find('\x1b'), std::string::npos) << event.message;
        counts[std::get<std::string>(event.details.at("reason"))].push_back(
            std::get<std::uint64_t>(event.details.at("count")));
    }
    ASSERT_EQ(counts.size(), 4U);
    for (const char* reason : {"no-proc", "no-device", "dumpable", "not-loadable"}) {
        const auto& of_reason = counts[reason];
        EXPECT_LE(of_reason.size(), 4U) << reason;
        EXPECT_EQ(of_reason.front(), 1U) << reason;
        EXPECT_EQ(std::accumulate(of_reason.begin(), of_reason.end(), std::uint64_t{0}), 100U) << reason;
    }
}

}  // namespace
}  // namespace cgpu::link::test
