#include "client/cgpuctl/events/event.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <set>
#include <string_view>

#include "client/cgpuctl/base/event_types.hpp"
#include "client/cgpuctl/events/events.hpp"
#include "daemon/app/events/event_type.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl {
namespace {

Event refused() {
    return {1'770'091'506'500'000,
            "allocation-refused",
            "instance 0123456789ab: process 12: an allocation of 700MiB was refused",
            {{"event", "allocation-refused"},
             {"event-number", "9"},
             {"instance", "0123456789abcdef"},
             {"name", "web"},
             {"gpu", "1"},
             {"gpu-uuid", "GPU-00000000-0000-0000-0000-000000000001"},
             {"pid", "12"},
             {"asked", "734003200"},
             {"count", "3"}}};
}

Event changed() {
    return {
        1'770'091'506'000'000,
        "setting-changed",
        "GPU 0 (GPU-00000000-0000-0000-0000-000000000002): policy weighted is set, instead of proportional",
        {{"gpu", "0"}, {"setting", "weight"}, {"before", "1"}, {"after", "4"}, {"caller-uid", "1000"}}};
}

class EventTest : public ::testing::Test {
  protected:
    EventTest() {
        setenv("TZ", "UTC", 1);
        tzset();
    }
    ~EventTest() override {
        unsetenv("TZ");
        tzset();
    }
};

TEST_F(EventTest, a_line_says_its_subject_once) {
    EXPECT_EQ(event_heading(), "TIME                 EVENT                  INSTANCE      GPU  MESSAGE");
    EXPECT_EQ(
        event_line(refused()),
        "2026-02-03 04:05:06  allocation-refused     web           1    process 12: an allocation of 700MiB "
        "was refused");
    EXPECT_EQ(
        event_line(changed()),
        "2026-02-03 04:05:06  setting-changed        -             0    policy weighted is set, instead of "
        "proportional");
    auto nameless = refused();
    nameless.fields.erase("name");
    EXPECT_NE(event_line(nameless).find("  0123456789ab  1  "), std::string::npos);
    auto named = refused();
    named.message = "instance 0123456789ab (web): gone";
    EXPECT_TRUE(event_line(named).ends_with("  gone")) << event_line(named);
}

TEST_F(EventTest, what_is_older_does_not_match) {
    const Event event = refused();
    EXPECT_TRUE(matches({.since_us = event.time_us}, event));
    EXPECT_FALSE(matches({.since_us = event.time_us + 1}, event));
}

TEST_F(EventTest, names_of_others_do_not_reach_the_terminal_as_they_are) {
    auto event = refused();
    event.fields["name"] = "w\x1b[31m\n";
    EXPECT_EQ(event_line(event).find('\x1b'), std::string::npos);
    EXPECT_EQ(event_line(event).find('\n'), std::string::npos);
    EXPECT_EQ(event_json(event).find('\x1b'), std::string::npos);
    EXPECT_EQ(event_json(event).find('\n'), std::string::npos);
}

TEST_F(EventTest, json_has_numbers_where_they_are_numbers) {
    EXPECT_EQ(
        event_json(refused()),
        R"({"time_seconds":1770091506.5,"type":"allocation-refused","message":"instance 0123456789ab: process )"
        R"(12: an allocation of 700MiB was refused","asked_bytes":734003200,"count":3,"number":9,"gpu":1,)"
        R"("gpu_uuid":"GPU-00000000-0000-0000-0000-000000000001","instance":"0123456789abcdef","name":"web","pid":12})");
    const auto json = event_json(changed());
    EXPECT_NE(json.find(R"("after":"4")"), std::string::npos) << "a setting is text, whatever it looks like";
    EXPECT_NE(json.find(R"("caller_uid":1000)"), std::string::npos) << json;
}

TEST_F(EventTest, filters) {
    EXPECT_TRUE(matches({}, refused()));
    EXPECT_TRUE(matches({.instance = "WEB"}, refused()));
    EXPECT_TRUE(matches({.instance = "0123"}, refused()));
    EXPECT_TRUE(matches({.instance = "0123456789abcdef"}, refused()));
    EXPECT_FALSE(matches({.instance = "01"}, refused())) << "too short for the beginning of an id";
    EXPECT_FALSE(matches({.instance = "we"}, refused()));
    EXPECT_FALSE(matches({.instance = "web"}, changed()));
    EXPECT_TRUE(matches({.gpu = "1"}, refused()));
    EXPECT_TRUE(matches({.gpu = "gpu-00000000-0000-0000-0000-000000000001"}, refused()));
    EXPECT_FALSE(matches({.gpu = "0"}, refused()));
    EXPECT_TRUE(matches({.type = "allocation-refused"}, refused()));
    EXPECT_FALSE(matches({.type = "setting-changed"}, refused()));
}

TEST_F(EventTest, a_type_that_no_event_has_is_refused_with_the_one_that_was_meant) {
    FakeNode node;
    Screen screen;
    auto terminal = screen.terminal();
    EventsInput input;
    input.type = "gpu-los";
    const auto done = events(input, node, terminal);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, client::ClientError::Kind::usage);
    EXPECT_EQ(done.error().text, "--type \"gpu-los\": no event has this type. Try: --type gpu-lost.");
}

TEST_F(EventTest, the_types_are_those_of_cgpud) {
    std::set<std::string_view> known(kEventTypes.begin(), kEventTypes.end());
    for (const auto& kind : app::kEventKinds) EXPECT_EQ(known.erase(kind.name), 1U) << kind.name;
    EXPECT_TRUE(known.empty());
}

TEST_F(EventTest, fields_of_the_journal) {
    EXPECT_EQ(field_name("CGPU_CALLER_UID"), "caller-uid");
    EXPECT_EQ(field_name("MESSAGE"), "");
    EXPECT_EQ(field_name("_PID"), "");
}

}  // namespace
}  // namespace cgpu::cgpuctl
