#include "daemon/store/json/record_json.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "core/model/quote.hpp"
#include "daemon/store/json/json_fields.hpp"

namespace cgpu::store {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using upgrade::Version;

constexpr auto kMostNanos = static_cast<std::uint64_t>(std::numeric_limits<upgrade::Nanos>::max());

/// For a field that may be an empty text: empty, or the result of `parse`.
template <class Parser>
auto or_nothing(Parser parse) {
    using Value = typename decltype(parse(std::string()))::value_type;
    return [=](const std::string& text) -> tl::expected<std::optional<Value>, std::string> {
        if (text.empty()) return std::optional<Value>();
        return parse(text).map([](const Value& value) { return std::optional(value); });
    };
}

/// A parser for Fields::parsed, made from one that gives no reason for a failure.
template <class Parser>
auto saying(const char* what, Parser parser) {
    return [=](const std::string& text)
               -> tl::expected<typename decltype(parser(text))::value_type, std::string> {
        if (const auto value = parser(text)) return *value;
        return tl::unexpected(model::quote(text) + " is no " + what);
    };
}

upgrade::Setting read_setting(Fields& fields, const char* name, upgrade::Kind kind) {
    if (kind == upgrade::Kind::mode)
        return fields.parsed(name, model::parse_mode).value_or(model::Mode::memory_compute);
    return fields.parsed(name, saying("version", Version::parse)).value_or(Version{});
}
upgrade::Kind read_kind(Fields& fields) {
    return fields.parsed("kind", saying("kind of upgrade", upgrade::parse_kind)).value_or(upgrade::Kind::hot);
}
upgrade::Nanos read_nanos(Fields& fields, const char* name) {
    return static_cast<upgrade::Nanos>(fields.number(name, kMostNanos));
}

ordered_json job_json(const upgrade::Job& job) {
    return {{"id", job.id},
            {"kind", to_string(job.kind)},
            {"from", to_string(job.from)},
            {"to", to_string(job.to)},
            {"timeout_ns", job.timeout},
            {"deadline_ns", job.deadline},
            {"boot_id", job.boot_id},
            {"back", job.back},
            {"cancelled", job.cancelled},
            {"why", job.why},
            {"configured", job.configured},
            {"until_reboot", job.until_reboot}};
}

upgrade::Job read_job(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    upgrade::Job job;
    job.id = fields.number("id");
    job.kind = read_kind(fields);
    job.from = read_setting(fields, "from", job.kind);
    job.to = read_setting(fields, "to", job.kind);
    job.timeout = read_nanos(fields, "timeout_ns");
    job.deadline = read_nanos(fields, "deadline_ns");
    job.boot_id = fields.text("boot_id");
    job.back = fields.flag("back");
    job.cancelled = fields.flag("cancelled");
    job.why = fields.text("why");
    job.configured = fields.flag("configured");
    job.until_reboot = fields.flag("until_reboot");
    fields.refuse_others();
    return job;
}

ordered_json ended_json(const upgrade::Ended& ended) {
    return {{"id", ended.id},
            {"kind", to_string(ended.kind)},
            {"from", to_string(ended.from)},
            {"to", to_string(ended.to)},
            {"result", to_string(ended.result)},
            {"message", ended.message}};
}

upgrade::Ended read_ended(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    upgrade::Ended ended;
    ended.id = fields.number("id");
    ended.kind = read_kind(fields);
    ended.from = read_setting(fields, "from", ended.kind);
    ended.to = read_setting(fields, "to", ended.kind);
    ended.result =
        fields.parsed("result", saying("result", upgrade::parse_result)).value_or(upgrade::Result::failed);
    ended.message = fields.text("message");
    fields.refuse_others();
    return ended;
}

upgrade::ModeUntilReboot read_mode_until_reboot(const json& document, const std::string& place,
                                                std::string& error) {
    Fields fields(document, place, error);
    upgrade::ModeUntilReboot until;
    until.boot_id = fields.text("boot_id");
    until.then = fields.parsed("then", or_nothing(model::parse_mode));
    fields.refuse_others();
    return until;
}

}  // namespace

ordered_json record_json(const upgrade::Record& record) {
    ordered_json document = {{"in_force", record.in_force ? record.in_force->str() : ""},
                             {"mode", record.mode ? to_string(*record.mode) : ""}};
    if (record.job) document["job"] = job_json(*record.job);
    if (record.last) document["last"] = ended_json(*record.last);
    if (const auto& until = record.mode_until_reboot)
        document["mode_until_reboot"] = {{"boot_id", until->boot_id},
                                         {"then", until->then ? to_string(*until->then) : ""}};
    return document;
}

upgrade::Record read_record(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    upgrade::Record record;
    record.in_force = fields.parsed("in_force", or_nothing(saying("version", Version::parse)));
    record.mode = fields.parsed("mode", or_nothing(model::parse_mode));
    if (const json* job = fields.object_if_there("job"))
        record.job = read_job(*job, fields.place_of("job"), error);
    if (const json* last = fields.object_if_there("last"))
        record.last = read_ended(*last, fields.place_of("last"), error);
    if (const json* until = fields.object_if_there("mode_until_reboot"))
        record.mode_until_reboot =
            read_mode_until_reboot(*until, fields.place_of("mode_until_reboot"), error);
    fields.refuse_others();
    return record;
}

}  // namespace cgpu::store
