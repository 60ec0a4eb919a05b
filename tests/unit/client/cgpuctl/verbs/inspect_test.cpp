#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <array>
#include <string>

#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

class Inspect : public testing::Test {
  protected:
    Inspect() {
        std::array<char, 256> name{};
        gethostname(name.data(), name.size() - 1);
        host_ = name.data();
    }
    std::string printed(const InspectInput& input) {
        auto terminal = screen_.terminal();
        const auto done = inspect(input, node_, terminal);
        EXPECT_TRUE(done) << done.error().text;
        return screen_.out.str();
    }
    /// One card of 16130MiB with two instances of 4 of its 15 GiB.
    void two_of_four() {
        node_.snapshot.gpus.resize(1);
        node_.snapshot.gpus[0].memory_allocated = 8602 * kMib;
        node_.snapshot.instances.push_back(node_.snapshot.instances[0]);
        node_.snapshot.instances[1].name = "db";
        node_.snapshot.instances[0].owner = 4'000'000'000U;
        node_.snapshot.instances[1].declared_owner = "alice";
    }

    FakeNode node_;
    Screen screen_;
    std::string host_;
};

TEST_F(Inspect, ShowsEachGpuAndTheNode) {
    const std::string gap(std::max<std::size_t>(host_.size(), 4) - 4, ' ');
    const std::string after(std::max<std::size_t>(host_.size(), 4) - host_.size(), ' ');
    EXPECT_EQ(printed({}), "NAME" + gap +
                               "  GPU0(Allocated/Total)  GPU1(Allocated/Total)  GPU Memory(GiB)\n" + host_ +
                               after + "  4/15                   0/15                   4/30\n" +
                               std::string(70, '-') + "\nAllocated/Total GPU Memory In Node:\n4/30 (13%)\n");
}

TEST_F(Inspect, ShowsEachInstanceOnRequest) {
    two_of_four();
    InspectInput input;
    input.details = true;
    EXPECT_EQ(printed(input), "NAME:  " + host_ +
                                  "\n\n"
                                  "NAME  ID            GPU0(Allocated)  OWNER\n"
                                  "web   0123456789ab  4                4000000000\n"
                                  "db    0123456789ab  4                alice (declared)\n"
                                  "Allocated :  8 (53%)\n"
                                  "Total :      15\n" +
                                  std::string(70, '-') +
                                  "\n\nAllocated/Total GPU Memory In Node:  8/15 (53%)\n");
}

TEST_F(Inspect, LeavesOutGpusThatAreLost) {
    node_.snapshot.gpus[1].present = false;
    EXPECT_EQ(printed({}).find("GPU1"), std::string::npos);
    node_.snapshot.gpus.clear();
    EXPECT_NE(printed({}).find("\n0/0 (0%)\n"), std::string::npos);
}

TEST_F(Inspect, JsonHasBytes) {
    two_of_four();
    InspectInput input;
    input.json = input.details = true;
    const auto all = nlohmann::json::parse(printed(input));
    EXPECT_EQ(all.at("memory_allocated_bytes"), 8602 * kMib);
    EXPECT_EQ(all.at("gpus").at(0).at("memory_total_bytes"), 16130 * kMib);
    EXPECT_EQ(all.at("instances").at(0).at("owner"), 4'000'000'000U);
    EXPECT_EQ(all.at("instances").at(1).at("owner"), nullptr);
    EXPECT_EQ(all.at("instances").at(1).at("declared_owner"), "alice");
    EXPECT_EQ(all.at("instances").at(1).at("gpus").at(0).at("memory_allocated_bytes"), 4301 * kMib);
}

}  // namespace
}  // namespace cgpu::cgpuctl
