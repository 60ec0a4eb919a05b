#include "client/cgpuctl/trace/trace_json.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace cgpu::cgpuctl {
namespace {

using Json = nlohmann::ordered_json;
using trace::Nanos;
using trace::Record;

/// The tracks of each process of the trace.
enum class Track { turns = 1, gate = 2, work = 3, events = 4, lost = 5 };

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

/// The GPU is the first one.
int process_of(const Record& record) { return record.track + 1; }

/// Unique in the file: some viewers don't distinguish threads of different processes.
int thread_of(const Record& record, Track track) { return process_of(record) * 10 + static_cast<int>(track); }

std::string one_line(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

/// The first line, and what follows it.
std::pair<std::string, std::string> divided(std::string_view text) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {std::string(text), ""};
    return {std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
}

/// The events of one record.
class Events {
  public:
    Events(Nanos begin, std::vector<Json>& out) : begin_(begin), out_(out) {}

    void span(const Record& record, Track track, std::string_view name, Nanos from, Nanos to, Json args) {
        Json event = base(record, track, name, "X", from);
        event["dur"] = microseconds(to - from);
        event["args"] = std::move(args);
        out_.push_back(std::move(event));
    }
    void span(const Record& record, Track track, std::string_view name, Json args) {
        span(record, track, name, record.begin, record.end, std::move(args));
    }
    void instant(const Record& record, std::string_view name, Json args) {
        Json event = base(record, Track::events, name, "i", record.begin);
        event["s"] = "t";
        event["args"] = std::move(args);
        out_.push_back(std::move(event));
    }
    void counter(const Record& record, std::string_view name, Json args) {
        Json event = base(record, Track::events, name, "C", record.begin);
        event["args"] = std::move(args);
        out_.push_back(std::move(event));
    }
    /// The names of a process and its tracks.
    void names(const Record& record, const std::string& process,
               const std::vector<std::pair<Track, const char*>>& tracks) {
        metadata(record, "process_name", 0, {{"name", process}});
        metadata(record, "process_sort_index", 0, {{"sort_index", process_of(record)}});
        for (const auto& [track, name] : tracks) {
            metadata(record, "thread_name", thread_of(record, track), {{"name", name}});
            metadata(record, "thread_sort_index", thread_of(record, track),
                     {{"sort_index", static_cast<int>(track)}});
        }
    }

  private:
    [[nodiscard]] Json base(const Record& record, Track track, std::string_view name, const char* phase,
                            Nanos at) const {
        return {{"name", name},
                {"cat", "cgpu"},
                {"ph", phase},
                {"ts", microseconds(at - begin_)},
                {"pid", process_of(record)},
                {"tid", thread_of(record, track)}};
    }
    void metadata(const Record& record, const char* name, int thread, Json args) {
        Json event = {{"name", name}, {"ph", "M"}, {"pid", process_of(record)}};
        if (thread != 0) event["tid"] = thread;
        event["args"] = std::move(args);
        out_.push_back(std::move(event));
    }

    Nanos begin_;
    std::vector<Json>& out_;
};

void add_turn(const Record& record, const std::string& name, Events& events) {
    const auto [gpu_time, closed, flags, unused] = record.values;
    const Json args = {{"gpu_time_us", microseconds(gpu_time)},
                       {"contended", (flags & trace::kContended) != 0},
                       {"high_priority", (flags & trace::kPriority) != 0},
                       {"unfinished", (flags & trace::kUnfinished) != 0}};
    events.span(record, Track::turns, "turn", args);
    if (closed > record.begin && closed < record.end)
        events.span(record, Track::turns, "drain", closed, record.end, Json::object());
    Record of_gpu = record;
    of_gpu.track = 0;
    events.span(of_gpu, Track::turns, name, Json::object());
}

void add_memory(const Record& record, Events& events) {
    events.counter(record, "memory used (bytes)", {{"used", record.values[0]}});
    events.counter(record, "memory granted (bytes)", {{"granted", record.values[1]}});
    events.counter(record, "memory limit (bytes)", {{"limit", record.values[2]}});
}

}  // namespace

std::string TraceJson::begin() { return "{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": ["; }

std::string TraceJson::add(const Record& record) {
    std::vector<Json> out;
    Events events(record.kind == trace::Kind::start ? record.begin : start_.begin, out);
    const auto& values = record.values;
    switch (record.kind) {
        case trace::Kind::start:
            start_ = record;
            events.names({}, "GPU " + std::to_string(values[1]) + " " + divided(record.text).first,
                         {{Track::turns, "whose turn it is"}, {Track::events, "events"}});
            break;
        case trace::Kind::instance: {
            const auto name = divided(record.text).second;
            names_[record.track] = name;
            ++instances_;
            events.names(record, name,
                         {{Track::turns, "turns"},
                          {Track::gate, "gate"},
                          {Track::work, "measured work"},
                          {Track::events, "events"}});
            events.instant(record, "traced from here on",
                           {{"id", divided(record.text).first},
                            {"weight", values[0]},
                            {"high_priority", values[1] != 0}});
            break;
        }
        case trace::Kind::left:
            events.instant(record, "ended", Json::object());
            break;
        case trace::Kind::turn:
            add_turn(record, names_[record.track], events);
            break;
        case trace::Kind::wait:
            events.span(record, Track::gate, "waits", {{"all_threads_waited_us", microseconds(values[0])}});
            break;
        case trace::Kind::open:
            events.span(record, Track::gate, values[0] == 1 ? "not divided" : "open outside its turn",
                        Json::object());
            break;
        case trace::Kind::work:
            events.span(record, Track::work, "work",
                        {{"gpu_time_us", microseconds(values[0])},
                         {"launches", values[1]},
                         {"in_flight_us", microseconds(values[2])}});
            break;
        case trace::Kind::memory:
            add_memory(record, events);
            break;
        case trace::Kind::refused:
            events.instant(record, "allocations refused", {{"count", values[0]}});
            break;
        case trace::Kind::event: {
            const auto [type, message] = divided(record.text);
            events.instant(record, type, {{"message", message}});
            break;
        }
        case trace::Kind::dropped:
            events.names({}, "", {{Track::lost, "lost records"}});
            out.erase(out.begin(), out.begin() + 2);  // the process has its name
            events.span(record, Track::lost, "records lost", {{"count", values[0]}});
            break;
        case trace::Kind::end:
            last_ = record;
            break;
    }
    std::string text;
    for (const Json& event : out) {
        text += std::exchange(any_, true) ? ",\n" : "\n";
        text += one_line(event);
    }
    return text;
}

std::string TraceJson::end(std::uint64_t bytes) const {
    const auto [uuid, rest] = divided(start_.text);
    const auto [model, policy] = divided(rest);
    Json other = {{"gpu", start_.values[1]},
                  {"uuid", uuid},
                  {"model", model},
                  {"policy_at_start", policy},
                  {"started_us_since_1970", start_.values[0]},
                  {"started_monotonic_us", microseconds(start_.begin)},
                  {"bytes_of_records", bytes},
                  {"complete", last_.has_value()}};
    if (last_) {
        other["duration_us"] = microseconds(last_->end - last_->begin);
        other["records"] = last_->values[1];
        other["records_dropped"] = last_->values[2];
        other["cost_of_slicer_us"] = microseconds(last_->values[0]);
        other["cost_of_rest_of_cgpud_us"] = microseconds(last_->values[3]);
    }
    return "\n],\n\"otherData\": " + one_line(other) + "}\n";
}

}  // namespace cgpu::cgpuctl
