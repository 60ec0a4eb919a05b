#include "daemon/store/record_json.hpp"

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "core/model/quote.hpp"
#include "daemon/store/json_fields.hpp"

namespace cgpu::store {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using upgrade::Version;

constexpr auto kMostNanos = static_cast<std::uint64_t>(std::numeric_limits<upgrade::Nanos>::max());

/// A parser as Fields::parsed takes it, of one that says nothing about what is wrong.
template <class Parser>
auto saying(const char* what, Parser parser) {
    return [=](const std::string& text)
               -> tl::expected<typename decltype(parser(text))::value_type, std::string> {
        if (const auto value = parser(text)) return *value;
        return tl::unexpected(model::quote(text) + " is no " + what);
    };
}

Version read_version(Fields& fields, const char* name) {
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
            {"from", job.from.str()},
            {"to", job.to.str()},
            {"timeout_ns", job.timeout},
            {"deadline_ns", job.deadline},
            {"boot_id", job.boot_id},
            {"back", job.back},
            {"cancelled", job.cancelled},
            {"why", job.why}};
}

upgrade::Job read_job(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    upgrade::Job job;
    job.id = fields.number("id");
    job.kind = read_kind(fields);
    job.from = read_version(fields, "from");
    job.to = read_version(fields, "to");
    job.timeout = read_nanos(fields, "timeout_ns");
    job.deadline = read_nanos(fields, "deadline_ns");
    job.boot_id = fields.text("boot_id");
    job.back = fields.flag("back");
    job.cancelled = fields.flag("cancelled");
    job.why = fields.text("why");
    fields.refuse_others();
    return job;
}

ordered_json ended_json(const upgrade::Ended& ended) {
    return {{"id", ended.id},       {"kind", to_string(ended.kind)},     {"from", ended.from.str()},
            {"to", ended.to.str()}, {"result", to_string(ended.result)}, {"message", ended.message}};
}

upgrade::Ended read_ended(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    upgrade::Ended ended;
    ended.id = fields.number("id");
    ended.kind = read_kind(fields);
    ended.from = read_version(fields, "from");
    ended.to = read_version(fields, "to");
    ended.result =
        fields.parsed("result", saying("result", upgrade::parse_result)).value_or(upgrade::Result::failed);
    ended.message = fields.text("message");
    fields.refuse_others();
    return ended;
}

}  // namespace

ordered_json record_json(const upgrade::Record& record) {
    ordered_json document = {{"in_force", record.in_force ? record.in_force->str() : ""}};
    if (record.job) document["job"] = job_json(*record.job);
    if (record.last) document["last"] = ended_json(*record.last);
    return document;
}

upgrade::Record read_record(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    upgrade::Record record;
    const auto optional_version =
        [](const std::string& text) -> tl::expected<std::optional<Version>, std::string> {
        if (text.empty()) return std::optional<Version>();
        return saying("version", Version::parse)(text).map([](const Version& v) { return std::optional(v); });
    };
    record.in_force = fields.parsed("in_force", optional_version);
    if (const json* job = fields.object_if_there("job"))
        record.job = read_job(*job, fields.place_of("job"), error);
    if (const json* last = fields.object_if_there("last"))
        record.last = read_ended(*last, fields.place_of("last"), error);
    fields.refuse_others();
    return record;
}

}  // namespace cgpu::store
