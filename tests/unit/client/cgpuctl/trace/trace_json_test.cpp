#include "client/cgpuctl/trace/trace_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace cgpu::cgpuctl {
namespace {

using nlohmann::json;
using trace::Kind;
using trace::Record;

constexpr trace::Nanos kBegin = 5'000'000'000;

Record start() {
    return {Kind::start, 0, kBegin, kBegin, {1'700'000'000'000'000, 3, 1, 0}, "GPU-1\nV100\nweighted"};
}
Record web() { return {Kind::instance, 1, kBegin, kBegin, {2, 0}, "0123\nweb"}; }

json file_of(const std::vector<Record>& records) {
    TraceJson writer;
    std::string text = TraceJson::begin();
    for (const auto& record : records) text += writer.add(record);
    return json::parse(text + writer.end(1234));
}

/// The events of the file that are no metadata, without their category.
std::vector<json> events_of(const std::vector<Record>& records) {
    std::vector<json> some;
    const json file = file_of(records);
    for (json event : file["traceEvents"]) {
        if (event["ph"] == "M" || event["name"] == "traced from here on") continue;
        event.erase("cat");
        some.push_back(std::move(event));
    }
    return some;
}

TEST(TraceJson, ATurnIsOnTheTracksOfItsInstanceAndOfTheGpu) {
    const auto events = events_of({start(),
                                   web(),
                                   {Kind::turn,
                                    1,
                                    kBegin + 1'000'500,
                                    kBegin + 6'000'000,
                                    {4'500'000, kBegin + 5'000'000, trace::kContended},
                                    {}}});
    EXPECT_EQ(events, (std::vector<json>{
                          {{"name", "turn"},
                           {"ph", "X"},
                           {"ts", 1000.5},
                           {"dur", 4999.5},
                           {"pid", 2},
                           {"tid", 21},
                           {"args",
                            {{"gpu_time_us", 4500.0},
                             {"contended", true},
                             {"high_priority", false},
                             {"unfinished", false}}}},
                          {{"name", "drain"},
                           {"ph", "X"},
                           {"ts", 5000.0},
                           {"dur", 1000.0},
                           {"pid", 2},
                           {"tid", 21},
                           {"args", json::object()}},
                          {{"name", "web"},
                           {"ph", "X"},
                           {"ts", 1000.5},
                           {"dur", 4999.5},
                           {"pid", 1},
                           {"tid", 11},
                           {"args", json::object()}},
                      }));
}

TEST(TraceJson, EachKindHasItsTrackAndItsFigures) {
    const auto at = kBegin + 2'000;
    const auto events = events_of({start(),
                                   web(),
                                   {Kind::wait, 1, at, at + 1000, {3000}, {}},
                                   {Kind::open, 1, at, at + 1000, {1}, {}},
                                   {Kind::open, 1, at, at + 1000, {0}, {}},
                                   {Kind::work, 1, at, at + 1000, {900, 4, 2000}, {}},
                                   {Kind::memory, 1, at, at, {7, 8, 9}, {}},
                                   {Kind::refused, 1, at, at, {2}, {}},
                                   {Kind::event, 0, at, at, {}, "job-begun\nupgrade: of\nmany"},
                                   {Kind::left, 1, at, at, {}, {}},
                                   {Kind::dropped, 0, at, at + 5000, {77}, {}},
                                   {static_cast<Kind>(999), 1, at, at, {}, "of a later version"}});
    std::vector<std::string> seen;
    seen.reserve(events.size());
    for (const auto& event : events)
        seen.push_back(event["ph"].get<std::string>() + " " + event["name"].get<std::string>() + " " +
                       event["tid"].dump() + " " + event["args"].dump());
    EXPECT_EQ(seen,
              (std::vector<std::string>{
                  R"(X waits 22 {"all_threads_waited_us":3.0})", "X not divided 22 {}",
                  "X open outside its turn 22 {}",
                  R"(X work 23 {"gpu_time_us":0.9,"in_flight_us":2.0,"launches":4})",
                  R"(C memory used (bytes) 24 {"used":7})", R"(C memory granted (bytes) 24 {"granted":8})",
                  R"(C memory limit (bytes) 24 {"limit":9})", R"(i allocations refused 24 {"count":2})",
                  R"(i job-begun 14 {"message":"upgrade: of\nmany"})", "i ended 24 {}",
                  R"(X records lost 15 {"count":77})"}));
    for (const auto& event : events) {
        EXPECT_EQ(event["ts"], 2.0);
        EXPECT_EQ(event.value("s", ""), event["ph"] == "i" ? "t" : "");
    }
}

TEST(TraceJson, ProcessesAndTracksHaveNames) {
    const auto file = file_of({start(), web()});
    std::map<std::string, std::string> names;
    for (const auto& event : file["traceEvents"]) {
        if (event["name"] == "process_name") names[event["pid"].dump()] = event["args"]["name"];
        if (event["name"] == "thread_name") names[event["tid"].dump()] = event["args"]["name"];
    }
    EXPECT_EQ(names, (std::map<std::string, std::string>{{"1", "GPU 3 GPU-1"},
                                                         {"11", "whose turn it is"},
                                                         {"14", "events"},
                                                         {"2", "web"},
                                                         {"21", "turns"},
                                                         {"22", "gate"},
                                                         {"23", "measured work"},
                                                         {"24", "events"}}));
}

TEST(TraceJson, TheEndSaysWhatTheTraceCost) {
    const auto whole =
        file_of({start(), {Kind::end, 0, kBegin, kBegin + 2'000'000'000, {3'000'000, 55, 4, 1'000'000}, {}}});
    const json expected = {{"gpu", 3},
                           {"uuid", "GPU-1"},
                           {"model", "V100"},
                           {"policy_at_start", "weighted"},
                           {"started_us_since_1970", 1'700'000'000'000'000},
                           {"started_monotonic_us", 5e6},
                           {"bytes_of_records", 1234},
                           {"complete", true},
                           {"duration_us", 2e6},
                           {"records", 55},
                           {"records_dropped", 4},
                           {"cost_of_slicer_us", 3000.0},
                           {"cost_of_rest_of_cgpud_us", 1000.0}};
    EXPECT_EQ(whole["otherData"], expected);
    EXPECT_EQ(file_of({start()})["otherData"]["complete"], false);
    EXPECT_TRUE(file_of({})["traceEvents"].empty());
}

RC_GTEST_PROP(TraceJson, AnyRecordsMakeAValidFile, ()) {
    const auto records = *rc::gen::container<std::vector<Record>>(rc::gen::build<Record>(
        rc::gen::set(&Record::kind,
                     rc::gen::map(rc::gen::inRange(0, 15), [](int kind) { return static_cast<Kind>(kind); })),
        rc::gen::set(&Record::track, rc::gen::inRange<std::uint16_t>(0, 4)),
        rc::gen::set(&Record::begin, rc::gen::inRange<trace::Nanos>(0, 1'000'000'000)),
        rc::gen::set(&Record::end, rc::gen::inRange<trace::Nanos>(0, 1'000'000'000)),
        rc::gen::set(&Record::values), rc::gen::set(&Record::text)));
    const auto file = file_of(records);
    for (const auto& event : file["traceEvents"]) {
        RC_ASSERT(event.contains("name") && event["name"].is_string());
        RC_ASSERT(event.contains("pid") && event["pid"].is_number_integer());
        RC_ASSERT(event["ph"] == "M" || (event.contains("ts") && event["ts"].is_number()));
    }
}

}  // namespace
}  // namespace cgpu::cgpuctl
