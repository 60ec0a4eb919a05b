#include "daemon/store/queue_records.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "core/request/request.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/store/base/record_folder.hpp"
#include "daemon/store/json/instance_json.hpp"
#include "daemon/store/json/json_fields.hpp"
#include "daemon/store/json/sealed_text.hpp"
#include "daemon/store/migrate.hpp"
#include "files/read.hpp"

namespace cgpu::store {
namespace {

namespace fs = std::filesystem;
using app::QueuedRequest;
using nlohmann::json;
using nlohmann::ordered_json;

/// Variables are of 4096 characters at most.
constexpr std::size_t kLongest = std::size_t{1} << 18;

/// Times are on a clock that goes on over restarts of cgpud, and ends with the boot.
std::optional<model::Nanos> time_or_none(std::uint64_t number) {
    if (number == 0) return std::nullopt;
    return static_cast<model::Nanos>(number);
}

ordered_json queued_json(const QueuedRequest& request) {
    auto instance = request.instance;
    instance.attached = request.process;
    return {{"version", kStateVersion},
            {"ticket", request.waiting.ticket},
            {"priority", request.waiting.priority},
            {"asked_at", request.waiting.asked_at},
            {"deadline", request.waiting.deadline.value_or(0)},
            {"length", request.waiting.length.value_or(0)},
            {"reason", static_cast<std::uint32_t>(request.reason)},
            {"variables", request.variables},
            {"instance", instance_json(instance)}};
}

std::map<std::string, std::string> read_variables(const json& document, std::string& error) {
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : document.items()) {
        if (!value.is_string()) error = "variables: " + name;
        if (value.is_string()) variables.emplace(name, value.get<std::string>());
    }
    return variables;
}

std::optional<QueuedRequest> read_queued(const std::string& text) {
    constexpr std::uint64_t kMostTime = std::numeric_limits<model::Nanos>::max();
    if (seal_of(text) != Seal::whole) return std::nullopt;
    const auto document = json::parse(text, nullptr, false);
    std::string error;
    Fields fields(document, "", error);
    if (fields.number("version") != kStateVersion) return std::nullopt;
    queue::Waiting waiting;
    waiting.ticket = fields.number("ticket");
    waiting.priority =
        static_cast<std::int32_t>(fields.number("priority", std::numeric_limits<std::int32_t>::max()));
    waiting.asked_at = static_cast<model::Nanos>(fields.number("asked_at", kMostTime));
    waiting.deadline = time_or_none(fields.number("deadline", kMostTime));
    waiting.length = time_or_none(fields.number("length", kMostTime));
    const auto reason = fields.number("reason", static_cast<std::uint64_t>(model::Refusal::Reason::changed));
    std::map<std::string, std::string> variables;
    if (const json* part = fields.object("variables")) variables = read_variables(*part, error);
    const json* part = fields.object("instance");
    auto instance = part != nullptr ? read_instance(*part, "instance", error) : std::nullopt;
    fields.text(kChecksum);
    fields.refuse_others();
    if (!error.empty() || !instance || !instance->attached) return std::nullopt;
    const auto request = request::parse_request(variables);
    if (!request || !*request) return std::nullopt;
    waiting.request = **request;
    waiting.owner = instance->owner;
    auto process = *std::exchange(instance->attached, std::nullopt);
    return QueuedRequest{std::move(waiting), std::move(*instance), std::move(process), std::move(variables),
                         static_cast<model::Refusal::Reason>(reason)};
}

}  // namespace

QueueRecords::QueueRecords(fs::path folder) : folder_(std::move(folder)) { make_record_folder(folder_); }

fs::path QueueRecords::path_of(const model::InstanceId& id) const { return record_path(folder_, id.str()); }

std::vector<QueuedRequest> QueueRecords::left(const std::string& boot_id) const {
    std::vector<QueuedRequest> found;
    for (const auto& path : records_in(folder_)) {
        const auto text = files::read_whole(path, kLongest);
        auto queued = text && *text ? read_queued(**text) : std::nullopt;
        if (queued && path == path_of(queued->id()) && queued->process.boot_id == boot_id) {
            found.push_back(std::move(*queued));
            continue;
        }
        log::warn("{}: it is no whole record of a request that waits, and is removed", path.string());
        std::error_code ignored;
        fs::remove(path, ignored);
    }
    return found;
}

void QueueRecords::add(const QueuedRequest& request) {
    const auto text =
        sealed(queued_json(request).dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n");
    const auto path = path_of(request.id());
    const auto written = files::write_text(path, text);
    if (written) {
        warned_ = false;
        return;
    }
    if (!std::exchange(warned_, true))
        log::warn(
            "{} can't be written: {}. After a restart of cgpud such a request waits at the end of the queue. "
            "Try: free space in its folder.",
            path.string(), written.error().why());
    remove(request.id());
}

void QueueRecords::remove(const model::InstanceId& id) {
    std::error_code ignored;
    fs::remove(path_of(id), ignored);
}

}  // namespace cgpu::store
