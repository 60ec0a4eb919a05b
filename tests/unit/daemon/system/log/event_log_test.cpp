#include "daemon/system/log/event_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "daemon/app/events/event_type.hpp"

namespace cgpu::system {
namespace {

app::Event an_event(app::EventType type) {
    app::Event event{.type = type, .level = log::Level::warn, .message = "instance web: no\n"};
    event.instance = *model::InstanceId::parse("0123456789abcdef");
    event.name = "we\nb";
    event.gpu = model::Uuid(model::Uuid::Raw{1});
    event.gpu_index = 2;
    event.by = app::Who{1000, 55};
    event.process = 12;
    event.details = {{"memory-limit", std::uint64_t{4096}}, {"before", std::string("x")}};
    return event;
}

std::map<std::string, std::string> fields_of(const JournalEntry& entry) {
    std::map<std::string, std::string> all;
    for (const auto& field : entry.fields())
        all[field.substr(0, field.find('='))] = field.substr(field.find('=') + 1);
    return all;
}

TEST(EventLog, an_entry_has_the_fields_of_the_manual) {
    const auto fields = fields_of(entry_of(an_event(app::EventType::allocation_refused), {9, 0}));
    const std::map<std::string, std::string> expected = {
        {"MESSAGE", "instance web: no\\x0a"},
        {"PRIORITY", "4"},
        {"SYSLOG_IDENTIFIER", "cgpud"},
        {"MESSAGE_ID", "91ed9453f2944759b16d5479ec278837"},
        {"CGPU_EVENT", "allocation-refused"},
        {"CGPU_EVENT_NUMBER", "9"},
        {"CGPU_INSTANCE", "0123456789abcdef"},
        {"CGPU_NAME", "we\nb"},
        {"CGPU_GPU", "2"},
        {"CGPU_GPU_UUID", model::Uuid(model::Uuid::Raw{1}).to_string()},
        {"CGPU_PID", "12"},
        {"CGPU_CALLER_UID", "1000"},
        {"CGPU_CALLER_PID", "55"},
        {"CGPU_MEMORY_LIMIT", "4096"},
        {"CGPU_BEFORE", "x"},
    };
    EXPECT_EQ(fields, expected);
}

TEST(EventLog, what_an_event_does_not_know_has_no_field) {
    const app::Event event{.type = app::EventType::daemon_stopped, .message = "bye"};
    EXPECT_EQ(fields_of(entry_of(event, {1, 0})).count("CGPU_NAME"), 0U);
    EXPECT_EQ(entry_of(event, {1, 0}).fields().size(), 6U);
}

TEST(EventLog, a_line_that_is_no_event_has_fields_of_what_it_is_about) {
    const model::Instance instance{
        *model::InstanceId::parse("0123456789abcdef"), "we\nb", 0, 0, model::Mode::none, {}, std::nullopt};
    JournalEntry entry("instance 3f2a: process 7: GPU 5: no", log::Level::error);
    entry.add(log::about(instance, 12));
    const std::map<std::string, std::string> expected = {
        {"MESSAGE", "instance 3f2a: process 7: GPU 5: no"},
        {"PRIORITY", "3"},
        {"SYSLOG_IDENTIFIER", "cgpud"},
        {"CGPU_INSTANCE", "0123456789abcdef"},
        {"CGPU_NAME", "we\nb"},
        {"CGPU_PID", "12"},
    };
    EXPECT_EQ(fields_of(entry), expected) << "whatever its text says";
}

/// journalctl -x shows the text of the catalog by the id.
TEST(EventLog, the_catalog_the_manual_and_the_completion_have_every_type) {
    const auto read = [](const std::string& name) {
        std::ifstream file(std::string(CGPU_SOURCE) + "/" + name);
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    };
    const auto catalog = read("units/cgpu.catalog");
    const auto manual = read("docs/cgpud.8");
    const auto completion = read("client/cgpuctl/base/event_types.hpp");
    for (const auto& kind : app::kEventKinds) {
        EXPECT_NE(catalog.find("-- " + std::string(kind.message_id) + "\nSubject: "), std::string::npos)
            << kind.name;
        std::string name(kind.name);
        EXPECT_NE(completion.find("\"" + name + "\","), std::string::npos) << kind.name;
        for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2)
            name.replace(at, 1, "\\-");
        EXPECT_NE(manual.find(".B " + name + "\n"), std::string::npos) << kind.name;
    }
    EXPECT_EQ(std::count(catalog.begin(), catalog.end(), '@') % 2, 0);
}

}  // namespace
}  // namespace cgpu::system
