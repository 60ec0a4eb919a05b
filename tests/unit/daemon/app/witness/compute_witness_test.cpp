#include "daemon/app/witness/compute_witness.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/unit/core/support/nodes.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app {
namespace {

using cgpu::test::id;
using cgpu::test::uuid;

constexpr double kOld = 5e8;  // microseconds: the driver's clock at the beginning

/// A GPU with processes that use it and report it, in virtual time.
struct World : UtilizationSource, ReportSource {
    struct Program {
        double uses = 0;     ///< of the GPU's time
        double reports = 0;  ///< likewise
        std::uint64_t start = 1;
        const char* instance = "a";
        bool connected = true;
        double used = 0;  ///< seconds, as the two are
        double reported = 0;
        std::int32_t page = 0;  ///< another address is another page
    };

    void utilization(const model::Uuid&, std::uint64_t after_us,
                     std::function<void(Result<std::vector<UtilizationSample>>)> call) override {
        ++questions;
        last_after = after_us;
        const auto answer = [this, call = std::move(call)] {
            if (refuses)
                return call(model::refuse(model::Refusal::Reason::unsupported, "use", "no", "another card"));
            call(samples());
        };
        if (!late)
            answer();
        else
            answers.push_back(loop.at(loop.now() + 3 * kSecond, answer));
    }
    std::vector<UtilizationSample> samples() {
        auto all = more;
        for (UtilizationSample& each : all)
            if (each.time_us == 0) each.time_us = time_us();
        for (auto& [pid, program] : programs) {
            const double length = in_seconds(loop.now() - asked);
            const double share = (program.used - used_then[pid]) / std::max(length, 0.001);
            used_then[pid] = program.used;
            const auto percent = static_cast<std::uint64_t>(std::lround(share * 100 * exaggerates));
            if (percent > 0) all.push_back({pid, percent, time_us()});
        }
        asked = loop.now();
        return all;
    }
    std::map<model::Uuid, ComputeReports> reports() override {
        std::map<model::Uuid, ComputeReports> all;
        if (!measured) return all;
        auto& on_gpu = all[uuid(0)];
        for (auto& [pid, program] : programs) {
            auto& its = on_gpu[id(program.instance)];
            if (!program.connected) continue;
            its.push_back({.process = {pid, program.start, "boot"},
                           .page = &program.page,
                           .used = static_cast<Nanos>(program.reported * 1e9)});
        }
        return all;
    }
    [[nodiscard]] std::uint64_t time_us() const {
        return static_cast<std::uint64_t>(kOld) + static_cast<std::uint64_t>(loop.now() / 1000);
    }
    static double in_seconds(Nanos time) { return static_cast<double>(time) / 1e9; }

    void run(double seconds) {
        for (double at = 0; at < seconds; at += 0.1) {
            for (auto& [pid, program] : programs) {
                program.used += program.uses * 0.1;
                program.reported += program.reports * 0.1;
            }
            if (static_cast<int>(at * 10) % 100 == 0) witness.look();
            loop.advance(kSecond / 10);
        }
    }
    [[nodiscard]] std::vector<std::int32_t> named(EventType type = EventType::escape_found) const {
        std::vector<std::int32_t> pids;
        for (const Event& event : events.of(type)) pids.push_back(event.process);
        return pids;
    }

    std::map<std::int32_t, Program> programs;
    std::map<std::int32_t, double> used_then;
    std::vector<UtilizationSample> more;  ///< in each answer; a time of 0 is that of the answer
    double exaggerates = 1;
    bool measured = true;
    bool refuses = false;
    bool late = false;
    int questions = 0;
    std::uint64_t last_after = 0;
    Nanos asked = 0;
    test::FakeLoop loop;
    std::vector<WatchPtr> answers;
    test::RecordedEvents events;
    ComputeWitness witness{{loop, *this, *this, events.events, [this](const auto& instance, const auto&) {
                                std::vector<std::int32_t> pids;
                                for (const auto& [pid, program] : programs)
                                    if (!program.connected && id(program.instance) == instance)
                                        pids.push_back(pid);
                                return pids;
                            }}};
};

using Pids = std::vector<std::int32_t>;

TEST(ComputeWitness, CountsThoseWhoBelongToNobody) {
    World world;
    world.programs[10] = {.uses = 0.4, .reports = 0.4, .instance = "honest"};
    world.programs[11] = {.uses = 0.1, .reports = 0, .instance = "out", .connected = false};
    EXPECT_FALSE(world.witness.strangers(uuid(0))) << "nobody was asked yet";
    world.more = {{77, 20, 0}, {78, 30, 0}};
    world.run(1);
    EXPECT_EQ(world.witness.strangers(uuid(0)).value_or(StrangersUse{1, 1}).share, 0)
        << "whoever is seen once may be about to connect";
    world.run(10);
    const auto use = world.witness.strangers(uuid(0));
    ASSERT_TRUE(use);
    EXPECT_NEAR(use->share, 0.5, 0.05);
    EXPECT_EQ(use->most, 78);
}

TEST(ComputeWitness, AProcessThatHasEndedWasNoStranger) {
    World world;
    world.programs[10] = {.uses = 0.4, .reports = 0.4, .instance = "a"};
    world.programs[11] = {.uses = 0.4, .reports = 0.4, .instance = "b"};
    world.run(8);
    world.programs.erase(11);
    // The driver still tells of it.
    world.more = {{11, 30, 0}};
    world.run(2);
    EXPECT_EQ(world.witness.strangers(uuid(0)).value_or(StrangersUse{1, 1}).share, 0);
}

TEST(ComputeWitness, WithoutSamplesNothingIsKnownOfStrangers) {
    World world;
    world.programs[10] = {.uses = 0.4, .reports = 0.4};
    world.run(8);
    EXPECT_TRUE(world.witness.strangers(uuid(0)));
    world.refuses = true;
    world.run(8);
    EXPECT_FALSE(world.witness.strangers(uuid(0)));
    EXPECT_FALSE(world.witness.strangers(uuid(1)));
}

TEST(ComputeWitness, NamesTheProcessAndSaysHowMuch) {
    World world;
    world.programs[10] = {.uses = 0.5, .reports = 0.5, .instance = "honest"};
    world.programs[11] = {.uses = 0.5, .reports = 0};
    world.run(30);
    EXPECT_EQ(world.named(), Pids{11});
    const auto event = world.events.of(EventType::escape_found).at(0);
    EXPECT_EQ(event.instance, id("a"));
    EXPECT_EQ(event.gpu, uuid(0));
    EXPECT_EQ(std::get<std::string>(event.details.at("kind")), "compute");
    EXPECT_NEAR(static_cast<double>(std::get<std::uint64_t>(event.details.at("unreported"))), 50, 1);
    EXPECT_NE(event.message.find("process 11: by the driver's samples, uses 50% of the time of GPU-"),
              std::string::npos)
        << event.message;
    EXPECT_NEAR(world.witness.unreported(id("a"), uuid(0)), 0.5, 0.01);
    EXPECT_EQ(world.witness.unreported(id("honest"), uuid(0)), 0);
    EXPECT_EQ(world.witness.unreported(id("a"), uuid(1)), 0);
    world.run(600);
    EXPECT_EQ(world.named(), Pids{11}) << "once";
    EXPECT_TRUE(world.named(EventType::escape_ended).empty());
    world.programs.erase(11);
    world.run(5);
    EXPECT_EQ(world.named(EventType::escape_ended), Pids{11});
    EXPECT_EQ(world.witness.unreported(id("a"), uuid(0)), 0);
}

TEST(ComputeWitness, HonestProgramsAreNotNamed) {
    World world;
    // Of one instance and of several, some that work little, and some whose reports are a little behind.
    world.programs[1] = {.uses = 0.4, .reports = 0.39};
    world.programs[2] = {.uses = 0.3, .reports = 0.3};
    world.programs[3] = {.uses = 0.1, .reports = 0.09, .instance = "b"};
    world.programs[4] = {.uses = 0.1, .reports = 0.1, .instance = "c"};
    world.programs[5] = {.uses = 0.0, .reports = 0.0, .instance = "c"};
    for (const double exaggerates : {1.0, 1.14, 2.5}) {
        world.exaggerates = exaggerates;
        world.run(1200);
        EXPECT_TRUE(world.events.all.empty()) << exaggerates << ": " << world.events.all[0].message;
    }
}

TEST(ComputeWitness, ValuesBeyondAHundredAreClamped) {
    World world;
    world.programs[1] = {.uses = 1.0, .reports = 1.0};
    world.exaggerates = 200;
    world.run(300);
    EXPECT_TRUE(world.events.all.empty());
    world.programs[1].reports = 0;
    world.run(30);
    EXPECT_EQ(world.named(), Pids{1});
    EXPECT_LE(world.witness.unreported(id("a"), uuid(0)), 1.0);
}

TEST(ComputeWitness, OldSamplesAndThoseOfOthersAreIgnored) {
    World world;
    world.programs[1] = {};
    world.programs[2] = {.uses = 0.05, .reports = 0.05, .instance = "b"};
    // The same sample in each answer, a process that has ended, no process, and one without a time.
    world.more = {{1, 100, static_cast<std::uint64_t>(kOld)}, {99, 90, ~0ULL / 2}, {0, 100, 0}, {1, 100, 0}};
    world.run(300);
    EXPECT_TRUE(world.events.all.empty()) << world.events.all[0].message;
}

TEST(ComputeWitness, AClockThatWasSetBackHidesNobodyForLong) {
    World world;
    world.programs[1] = {};
    world.more = {{99, 90, ~0ULL / 2}};
    world.run(20);
    world.more.clear();
    world.programs[1] = {.uses = 0.9, .reports = 0};
    world.run(40);
    EXPECT_EQ(world.named(), Pids{1});
}

TEST(ComputeWitness, AProcessWithTheSamePidBeginsAnew) {
    World world;
    for (std::uint64_t start = 1; start < 60; ++start) {
        world.programs[1] = {.uses = 1, .reports = 0, .start = start};
        world.run(9);
    }
    EXPECT_TRUE(world.events.all.empty()) << "none of them was there for long enough";
    world.run(20);
    EXPECT_EQ(world.named(), Pids{1});
}

TEST(ComputeWitness, ProcessesThatComeAndGoAreNotAddedUpWrongly) {
    World world;
    std::int32_t pid = 1;
    for (int i = 0; i < 100; ++i) {
        world.programs.clear();
        world.programs[pid++] = {.uses = 1, .reports = 1};
        world.run(11);
    }
    EXPECT_TRUE(world.events.all.empty()) << world.events.all[0].message;
}

TEST(ComputeWitness, ManyThatUseLittleAreFoundTogether) {
    World world;
    for (std::int32_t pid = 1; pid <= 8; ++pid) world.programs[pid] = {.uses = 0.1, .reports = 0};
    world.run(40);
    EXPECT_EQ(world.named(), Pids{0});
    EXPECT_NE(world.events.all[0].message.find("its processes together: by the driver's samples, use 80%"),
              std::string::npos)
        << world.events.all[0].message;
    EXPECT_NEAR(world.witness.unreported(id("a"), uuid(0)), 0.8, 0.05);
    world.programs.clear();
    world.programs[9] = {.instance = "b"};
    world.run(5);
    EXPECT_EQ(world.named(EventType::escape_ended), Pids{0});
}

TEST(ComputeWitness, AProcessOutsideTheModuleReportsNothing) {
    World world;
    world.programs[7] = {.uses = 0.6, .reports = 0, .connected = false};
    world.run(30);
    EXPECT_EQ(world.named(), Pids{7});
}

TEST(ComputeWitness, WhereNothingIsMeasuredNobodyIsAsked) {
    World world;
    world.measured = false;
    world.programs[1] = {.uses = 1, .reports = 0};
    world.run(60);
    EXPECT_EQ(world.questions, 0);
    world.measured = true;
    world.run(30);
    EXPECT_EQ(world.named(), Pids{1});
    world.measured = false;
    world.run(5);
    EXPECT_EQ(world.named(EventType::escape_ended), Pids{1}) << "policy native was set";
    EXPECT_EQ(world.witness.unreported(id("a"), uuid(0)), 0);
}

TEST(ComputeWitness, ADriverThatRefusesIsAskedSeldom) {
    World world;
    world.refuses = true;
    world.programs[1] = {.uses = 1, .reports = 0};
    world.run(600);
    EXPECT_LE(world.questions, 11);
    EXPECT_TRUE(world.events.all.empty());
}

TEST(ComputeWitness, AnswersThatComeLateAreNotUsed) {
    World world;
    world.late = true;
    world.programs[1] = {.uses = 1, .reports = 0};
    world.run(120);
    EXPECT_GT(world.questions, 10);
    EXPECT_TRUE(world.events.all.empty());
}

TEST(ComputeWitness, RestsWithoutAProcess) {
    World world;
    world.run(60);
    EXPECT_EQ(world.questions, 0);
    world.programs[1] = {.uses = 0, .reports = 0};
    world.run(60);
    EXPECT_LE(world.questions, 8) << "every ten seconds";
    EXPECT_GE(world.questions, 5);
}

TEST(ComputeWitness, AnotherProgramInTheSameProcessBeginsAnew) {
    World world;
    world.programs[1] = {.uses = 0.9, .reports = 0.9};
    world.run(100);
    // After an exec the counters on its page begin with 0.
    auto another = world.programs.extract(1);
    another.mapped().reported = 0;
    world.programs[1] = another.mapped();
    world.run(100);
    EXPECT_TRUE(world.events.all.empty()) << world.events.all[0].message;
}

}  // namespace
}  // namespace cgpu::app
