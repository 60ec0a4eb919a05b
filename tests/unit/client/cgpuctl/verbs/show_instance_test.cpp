#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

class ShowInstance : public testing::Test {
  protected:
    template <class Own>
    std::string printed(client::Result<void> (*verb)(const Own&, client::Node&, Terminal&),
                        const Own& input) {
        auto terminal = screen_.terminal();
        const auto done = verb(input, node_, terminal);
        EXPECT_TRUE(done) << done.error().text;
        return screen_.out.str();
    }
    template <class Own>
    nlohmann::json parsed(client::Result<void> (*verb)(const Own&, client::Node&, Terminal&), Own input) {
        input.json = true;
        return nlohmann::json::parse(printed(verb, input));
    }

    FakeNode node_;
    Screen screen_;
    ShowInput input_;
};

TEST_F(ShowInstance, ProcessesHaveUsersAndCommands) {
    input_.target = "web";
    node_.snapshot.instances[0].processes = {{4711, 0, "python3"}, {4712, 4'000'000'000U, "a\x1b[2J"}};
    const std::string text = printed(&show, input_);
    EXPECT_NE(text.find("Process:   4711 root python3\n"), std::string::npos) << text;
    EXPECT_NE(text.find("Process:   4712 4000000000 a?[2J\n"), std::string::npos) << text;
    input_.host = "elsewhere";
    EXPECT_NE(printed(&show, input_).find("Process:   4711 0 python3\n"), std::string::npos)
        << "there the id may be another user's";
    screen_.out.str("");
    const auto json = parsed(&list, ListInput()).at(0).at("processes");
    EXPECT_EQ(json.at(0), (nlohmann::json{{"pid", 4711}, {"uid", 0}, {"command", "python3"}}));
}

TEST_F(ShowInstance, WaitsAreShownByTheirBounds) {
    input_.target = "web";
    auto& waits = node_.snapshot.instances[0].gpus[0].usage.launch_waits.counts;
    waits[0] = 90;  // at most 10 us
    waits[5] = 9;   // 3 ms
    waits.back() = 1;
    const auto shows = [&](const std::string& waited) {
        const std::string text = printed(&show, input_);
        EXPECT_NE(text.find("Waited:               " + waited + "\n"), std::string::npos) << waited << " in\n"
                                                                                          << text;
    };
    shows("20ms (100 launches; 99% of them at most 3ms)");
    waits[5] = 0;
    shows("20ms (91 launches; more than 1% of them longer than 10s)");
    waits = {1};
    shows("20ms (1 launch; at most 10us)");
}

TEST_F(ShowInstance, WaitsInJson) {
    const auto waits = [&] {
        screen_.out.str("");
        return parsed(&list, ListInput()).at(0).at("gpus").at(0).at("launch_waits");
    };
    ASSERT_EQ(waits().size(), 14U) << "whether or not any launch had to wait";
    EXPECT_EQ(waits().front(), nlohmann::json::parse(R"({"at_most_seconds":1e-05,"launches":0})"));
    node_.snapshot.instances[0].gpus[0].usage.launch_waits.counts[0] = 1;
    ASSERT_EQ(waits().size(), 14U);
    EXPECT_EQ(waits().front(), nlohmann::json::parse(R"({"at_most_seconds":1e-05,"launches":1})"));
    EXPECT_EQ(waits().back(), nlohmann::json::parse(R"({"at_most_seconds":null,"launches":0})"));
}

}  // namespace
}  // namespace cgpu::cgpuctl
