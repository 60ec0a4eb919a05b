#include "client/cgpuctl/events/event.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <variant>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "core/model/gpu_word.hpp"
#include "core/model/instance_word.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr std::string_view kPrefix = "CGPU_";
constexpr std::size_t kTimeWidth = 19;
constexpr std::size_t kTypeWidth = 21;
constexpr std::size_t kNameWidth = 12;
constexpr std::size_t kGpuWidth = 3;

// The fields that are numbers; those of memory are in bytes.
constexpr std::array<std::string_view, 5> kBytes = {"asked", "free", "limit", "unexplained", "used"};
constexpr std::array<std::string_view, 13> kNumbers = {
    "caller-pid", "caller-uid", "count", "event-number", "gpu",    "gpus", "instances",
    "job",        "owner",      "pid",   "refusals",     "weight", "xid"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& all, std::string_view name) {
    return std::ranges::find(all, name) != all.end();
}

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

std::string padded(std::string text, std::size_t width) {
    const auto has = text_width(text);
    text.append(width > has ? width - has : 0, ' ');
    return text + "  ";
}

std::string cell(std::string_view text, std::size_t width) {
    return padded(text.empty() ? "-" : printable(text), width);
}

/// The message without its subject, which has columns of its own: `instance 3f2a (web): `, `GPU 0 (GPU-…): `.
std::string_view without_subject(const Event& event) {
    std::string_view message = event.message;
    std::string subject;
    if (const auto id = event.field("instance"); !id.empty())
        subject = "instance " + short_id(id);
    else if (const auto gpu = event.field("gpu"); !gpu.empty())
        subject = "GPU " + std::string(gpu);
    if (subject.empty() || !message.starts_with(subject)) return message;
    const bool named = message.substr(subject.size()).starts_with(" (");
    const std::string_view end = named ? "): " : ": ";
    const auto behind = message.find(end, subject.size());
    return behind == std::string_view::npos ? message : message.substr(behind + end.size());
}

Json value_of(const std::string& name, const std::string& text) {
    if (is_among(kBytes, name) || is_among(kNumbers, name))
        if (const auto number = number_in(text)) return *number;
    return text;
}

std::string json_key(std::string name) {
    if (is_among(kBytes, name)) name += "-bytes";
    if (name == "event-number") name = "number";
    std::ranges::replace(name, '-', '_');
    return name;
}

bool concerns(const Event& event, std::string_view gpu) {
    const auto word = model::parse_gpu_word(gpu);
    if (!word) return false;
    const std::string uuid = model::Uuid::parse(event.field("gpu-uuid"))
                                 .map([](const model::Uuid& parsed) { return parsed.to_string(); })
                                 .value_or("");
    const auto index = number_in(event.field("gpu"));
    if (std::holds_alternative<std::uint32_t>(*word))
        return index && *index == std::get<std::uint32_t>(*word);
    return model::is_meant(*word, {0, uuid});
}

}  // namespace

std::string_view Event::field(std::string_view name) const {
    const auto found = fields.find(std::string(name));
    return found == fields.end() ? std::string_view() : found->second;
}

bool matches(const EventFilter& filter, const Event& event) {
    if (event.time_us < filter.since_us) return false;
    if (!filter.type.empty() && filter.type != event.type) return false;
    if (!filter.gpu.empty() && !concerns(event, filter.gpu)) return false;
    return filter.instance.empty() ||
           model::meaning_of(filter.instance, {event.field("instance"), event.field("name")});
}

std::string field_name(std::string_view journals) {
    if (!journals.starts_with(kPrefix)) return {};
    std::string name = model::lowered(journals.substr(kPrefix.size()));
    std::ranges::replace(name, '_', '-');
    return name;
}

std::string event_heading() {
    return padded("TIME", kTimeWidth) + padded("EVENT", kTypeWidth) + padded("INSTANCE", kNameWidth) +
           padded("GPU", kGpuWidth) + "MESSAGE";
}

std::string event_line(const Event& event) {
    const auto name = event.field("name");
    return padded(time_text(event.time_us / 1'000'000), kTimeWidth) + cell(event.type, kTypeWidth) +
           cell(shown_name(name, event.field("instance")), kNameWidth) + cell(event.field("gpu"), kGpuWidth) +
           printable(without_subject(event));
}

std::string event_json(const Event& event) {
    Json json = {{"time_seconds", static_cast<double>(event.time_us) / 1e6},
                 {"type", event.type},
                 {"message", event.message}};
    for (const auto& [name, text] : event.fields)
        if (name != "event") json[json_key(name)] = value_of(name, text);
    return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace cgpu::cgpuctl
