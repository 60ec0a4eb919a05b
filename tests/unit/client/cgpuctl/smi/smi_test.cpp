#include "client/cgpuctl/smi/smi.hpp"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cgpuctl/output/format.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl::smi {
namespace {

using std::chrono::milliseconds;
using Words = std::vector<std::string>;

/// Time passes only while it sleeps; before each later reading the node changes.
class Smi : public testing::Test {
  protected:
    client::Result<void> run(const Words& arguments) {
        auto terminal = screen_.terminal();
        const Clock clock{[this] { return now_; },
                          [this](std::chrono::steady_clock::time_point until) {
                              now_ = std::max(now_, until);
                              between();
                          },
                          [] { return std::uint64_t{1700000000}; }};
        return smi::run(arguments, node_, terminal, clock);
    }
    std::string printed(const Words& arguments) {
        const auto done = run(arguments);
        EXPECT_TRUE(done) << done.error().text;
        return screen_.out.str();
    }
    client::Usage& web() { return node_.snapshot.instances[0].gpus[0].usage; }

    FakeNode node_;
    Screen screen_;
    std::chrono::steady_clock::time_point now_;
    std::function<void()> between = [] {};
};

constexpr const char* kQuery = "--query-instance=name,utilization.gpu,compute.achieved";

TEST_F(Smi, TheTablesFitIn80Columns) {
    auto& gpu = node_.snapshot.gpus[1];
    gpu.model = "NVIDIA B200 with a name that is too long";
    gpu.memory_total = gpu.memory_allocated = gpu.memory_used = 183359 * kMib;
    node_.snapshot.instances[0].name = "größer als der Platz ist";
    node_.snapshot.instances[0].foreign_gpus = {{kUuid1, 1, {}}};
    node_.snapshot.instances[0].foreign_gpus[0].usage.processes_outside = {4713};
    std::istringstream lines(printed({}));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, time_text(1700000000));
    int boxed = 0;
    while (std::getline(lines, line)) {
        EXPECT_LE(text_width(line), 79U) << line;
        if (!line.starts_with("|") && !line.starts_with("+")) continue;
        EXPECT_EQ(text_width(line), 79U) << line;
        ++boxed;
    }
    EXPECT_EQ(boxed, 14);
    // What is too long is cut in its own column.
    EXPECT_NE(screen_.out.str().find(
                  "|   1 NVIDIA B200 with a n weighted      0/20    0%   183359/183359/183359MiB |"),
              std::string::npos)
        << screen_.out.str();
}

TEST_F(Smi, TheTablesHaveEachGpuAndInstance) {
    const auto text = printed({});
    EXPECT_NE(text.find("|   0 Tesla V100-SXM2-16GB weighted      1/20 33.3%         200/4301/16130MiB |"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("|   0 0123456789ab web                2 33.3% 33.3%  100%         200/4301MiB |"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("outside"), std::string::npos);
}

TEST_F(Smi, ProcessesOutsideTheModuleAreShown) {
    web().processes_outside = {4713};
    const auto text = printed({});
    EXPECT_NE(text.find(" 2+1 "), std::string::npos) << text;
    EXPECT_NE(text.find("processes outside the module"), std::string::npos);
}

TEST_F(Smi, UtilizationIsThatOfTheInterval) {
    // 0.25 s of GPU time in each second.
    between = [this] { web().gpu_time += 250'000'000; };
    EXPECT_EQ(printed({kQuery, "--format=csv", "-l", "1", "-c", "3"}),
              "name, utilization.gpu [%], compute.achieved [%]\n"
              "web, 33.3 %, 33.3 %\n"
              "web, 25 %, 33.3 %\n"
              "web, 25 %, 33.3 %\n");
}

TEST_F(Smi, UtilizationSurvivesARestartOfCgpud) {
    between = [this] { web().gpu_time = 1000; };
    EXPECT_EQ(printed({kQuery, "--format=csv,noheader,nounits", "-l", "1", "-c", "2"}),
              "web, 33.3, 33.3\nweb, 33.3, 33.3\n");
}

TEST_F(Smi, AFailedReadingEndsOnlyTheFirst) {
    node_.answer = client::fail(client::ClientError::Kind::unreachable, "cgpud: away. Try: start it.");
    const auto done = run({kQuery, "--format=csv", "-l", "1"});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, client::ClientError::Kind::unreachable);
    EXPECT_EQ(screen_.out.str(), "");

    node_.answer = {};
    int readings = 0;
    between = [&] {
        node_.answer = {};
        if (++readings == 1)
            node_.answer =
                client::fail(client::ClientError::Kind::unreachable, "cgpud: away. Try: start it.");
        web().gpu_time += 250'000'000;
    };
    // Nothing of the reading before the gap is used after it.
    EXPECT_EQ(printed({kQuery, "--format=csv,noheader", "-l", "1", "-c", "3"}),
              "web, 33.3 %, 33.3 %\nweb, 33.3 %, 33.3 %\n");
    EXPECT_EQ(screen_.err.str(), "cgpud: away. Try: start it.\n");
}

TEST_F(Smi, WithoutMeasurementThereIsNoFigure) {
    node_.snapshot.gpus[0].policy_name = "native";
    web().target_share = web().achieved_share = std::nullopt;
    EXPECT_EQ(printed({"--query-instance=utilization.gpu,compute.limit,compute.time,memory.used",
                       "--format=csv,noheader"}),
              "[N/A], [N/A], [N/A], 200 MiB\n");
    screen_.out.str("");
    EXPECT_EQ(printed({"--query-gpu=utilization.gpu", "--format=csv,noheader"}), "[N/A]\n0 %\n");
    screen_.out.str("");
    EXPECT_NE(printed({}).find("  N/A   N/A   N/A "), std::string::npos);
}

TEST_F(Smi, AQueryOfGpusHasALineForEach) {
    EXPECT_EQ(printed({"--query-gpu=index,name,memory.total,memory.allocated,memory.used,instances.count",
                       "--format=csv"}),
              "index, name, memory.total [MiB], memory.allocated [MiB], memory.used [MiB], instances.count\n"
              "0, Tesla V100-SXM2-16GB, 16130 MiB, 4301 MiB, 200 MiB, 1\n"
              "1, Tesla V100-SXM2-16GB, 16130 MiB, 0 MiB, 0 MiB, 0\n");
}

TEST_F(Smi, NamesOfOthersCantBreakALine) {
    node_.snapshot.instances[0].name = "a,\"b\"\n\x1b[2J";
    EXPECT_EQ(printed({"--query-instance=name,weight", "--format=csv,noheader"}),
              "\"a,\"\"b\"\"??[2J\", 2\n");
}

TEST_F(Smi, NamesOfOthersAreNoFormulas) {
    auto& name = node_.snapshot.instances[0].name;
    const auto row = [this] {
        screen_.out.str("");
        return printed({"--query-instance=weight,name,state", "--format=csv,noheader"});
    };
    name = "=1+1";
    EXPECT_EQ(row(), "2, '=1+1, running\n");
    name = "@a,=b";
    EXPECT_EQ(row(), "2,\"'@a,=b\", running\n") << "a blank before the quote would end the quoting for many";
    name = "a\u202eb";
    EXPECT_EQ(row(), "2, a?b, running\n");
}

TEST_F(Smi, AGpuThatIsNotTheInstancesHasALineOfItsOwn) {
    client::ForeignGpu foreign{kUuid1, 1, {}};
    foreign.usage.memory_used = 150 * kMib;
    foreign.usage.processes_outside = {4713};
    node_.snapshot.instances[0].foreign_gpus = {foreign};
    EXPECT_EQ(printed({"--query-instance=gpu.index,gpu.own,memory.used,memory.limit,processes.outside",
                       "--format=csv,noheader"}),
              "0, yes, 200 MiB, 4301 MiB, [N/A]\n1, no, 150 MiB, [N/A], 4713\n");
}

TEST_F(Smi, GpusCanBeChosen) {
    EXPECT_EQ(printed({"--query-gpu=index", "--format=csv,noheader", "-i", "1"}), "1\n");
    screen_.out.str("");
    EXPECT_EQ(printed({"--query-instance=name", "--format=csv,noheader", "-i", kUuid1}), "");
    screen_.out.str("");
    EXPECT_EQ(printed({"--query-instance=name", "--format=csv,noheader", "-i", "1,0"}), "web\n");
    const auto none = run({"-i", "7"});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, client::ClientError::Kind::not_found);
}

TEST_F(Smi, JsonHasTheFiguresOfCgpuctlAndUtilization) {
    const auto all = nlohmann::json::parse(printed({"--json"}));
    EXPECT_EQ(all.at("gpus").at(0).at("memory_used_bytes"), 200 * kMib);
    EXPECT_EQ(all.at("gpus").at(0).at("utilization_ratio"), 0.333);
    EXPECT_EQ(all.at("instances").at(0).at("gpus").at(0).at("utilization_ratio"), 0.333);
    EXPECT_EQ(all.at("interval_seconds"), nullptr);
    EXPECT_EQ(all.at("timestamp_seconds"), 1700000000);
}

TEST_F(Smi, HelpListsEveryField) {
    EXPECT_NE(printed({"--help-query-gpu"}).find("memory.total "), std::string::npos);
    EXPECT_NE(printed({"--help-query-instance"}).find("compute.achieved "), std::string::npos);
    EXPECT_NE(printed({"--help"}).find("Usage: cgpu-smi"), std::string::npos);
    EXPECT_NE(printed({"--version"}).find("cgpu-smi "), std::string::npos);
}

}  // namespace
}  // namespace cgpu::cgpuctl::smi
