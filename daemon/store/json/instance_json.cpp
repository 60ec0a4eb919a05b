#include "daemon/store/json/instance_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/model/duration.hpp"
#include "daemon/store/json/json_fields.hpp"
#include "daemon/store/json/kept_json.hpp"

namespace cgpu::store {
namespace {

using model::Bytes;
using model::Instance;
using model::Process;
using model::Quota;
using nlohmann::json;
using nlohmann::ordered_json;

/// Of a quota, or of what it was.
template <class Figures>
ordered_json figures_json(const Figures& figures) {
    return {{"memory_limit_bytes", figures.memory_limit.count()},
            {"weight", figures.weight},
            {"high_priority", figures.high_priority},
            {"exclusive", figures.exclusive},
            {"percent", figures.percent.value_or(0)}};
}

ordered_json quota_json(const Quota& quota) {
    ordered_json result = {{"gpu", quota.gpu.to_string()}};
    result.update(figures_json(quota));
    result["paused"] = quota.paused;
    if (quota.admitted) result["admitted"] = figures_json(*quota.admitted);
    return result;
}

template <class Figures>
void read_figures(Fields& fields, Figures& figures) {
    figures.memory_limit = Bytes(fields.number("memory_limit_bytes"));
    figures.weight = fields.number32("weight");
    figures.high_priority = fields.flag("high_priority");
    figures.exclusive = fields.flag("exclusive");
    if (const auto percent = fields.number32("percent"); percent != 0) figures.percent = percent;
}

model::Admitted read_admitted(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    model::Admitted admitted;
    read_figures(fields, admitted);
    fields.refuse_others();
    return admitted;
}

Quota read_quota(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    Quota quota;
    quota.gpu = fields.parsed("gpu", model::Uuid::parse).value_or(model::Uuid());
    read_figures(fields, quota);
    quota.paused = fields.flag("paused");
    if (const json* admitted = fields.object_if_there("admitted"))
        quota.admitted = read_admitted(*admitted, fields.place_of("admitted"), error);
    fields.refuse_others();
    return quota;
}

Process read_process(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    Process process;
    process.pid = static_cast<std::int32_t>(fields.number("pid", std::numeric_limits<std::int32_t>::max()));
    process.start_time = fields.number("start_time");
    process.boot_id = fields.text("boot_id");
    fields.refuse_others();
    return process;
}

ordered_json time_json(const model::TimeLimit& time) {
    return {{"seconds", time.seconds}, {"ends", time.ends}, {"over", time.over}, {"closed", time.closed}};
}

model::TimeLimit read_time(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    model::TimeLimit time;
    time.seconds = fields.number("seconds", model::kLongestDuration);
    time.ends = static_cast<model::Nanos>(fields.number("ends", std::numeric_limits<model::Nanos>::max()));
    time.over = fields.flag("over");
    time.closed = fields.flag("closed");
    fields.refuse_others();
    return time;
}

ordered_json idle_json(const model::IdleLimit& idle) {
    return {{"seconds", idle.seconds}, {"ended", idle.ended}, {"closed", idle.closed}};
}

model::IdleLimit read_idle(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    model::IdleLimit idle;
    idle.seconds = fields.number("seconds", model::kLongestDuration);
    idle.ended = static_cast<model::Nanos>(fields.number("ended", std::numeric_limits<model::Nanos>::max()));
    idle.closed = fields.flag("closed");
    fields.refuse_others();
    return idle;
}

ordered_json reservation_json(const model::Reservation& reservation) {
    ordered_json result = {{"token", reservation.token}, {"boot_id", reservation.boot_id}};
    if (reservation.time) result["time"] = *reservation.time;
    if (reservation.idle) result["idle"] = *reservation.idle;
    return result;
}

model::Reservation read_reservation(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    model::Reservation reservation;
    reservation.token = fields.text("token");
    reservation.boot_id = fields.text("boot_id");
    if (document.contains("time")) reservation.time = fields.number("time", model::kLongestDuration);
    if (document.contains("idle")) reservation.idle = fields.number("idle", model::kLongestDuration);
    fields.refuse_others();
    return reservation;
}

}  // namespace

ordered_json instance_json(const Instance& instance) {
    ordered_json quotas = ordered_json::array();
    for (const Quota& quota : instance.quotas) quotas.push_back(quota_json(quota));
    ordered_json result = {{"id", instance.id.str()},           {"name", instance.name},
                           {"generation", instance.generation}, {"created", instance.created},
                           {"mode", to_string(instance.mode)},  {"quotas", std::move(quotas)}};
    result["image"] = instance.image;
    result["creator"] = instance.creator.value_or(kNoOwner);
    result["owner"] = instance.owner.user.value_or(kNoOwner);
    result["declared_owner"] = instance.owner.declared;
    if (instance.time) result["time"] = time_json(*instance.time);
    if (instance.idle) result["idle"] = idle_json(*instance.idle);
    if (instance.reservation) result["reservation"] = reservation_json(*instance.reservation);
    if (instance.attached)
        result["attached"] = {{"pid", instance.attached->pid},
                              {"start_time", instance.attached->start_time},
                              {"boot_id", instance.attached->boot_id}};
    return result;
}

std::optional<Instance> read_instance(const json& document, const std::string& place, std::string& error) {
    Fields fields(document, place, error);
    const auto id = fields.parsed("id", model::InstanceId::parse);
    if (!id) return std::nullopt;
    Instance instance{*id, "", 0, 0, model::Mode::memory_compute, {}, std::nullopt};
    instance.name = fields.text("name");
    instance.image = fields.text("image");
    instance.generation = fields.number("generation");
    instance.created = fields.number("created");
    instance.mode = fields.parsed("mode", model::parse_mode).value_or(instance.mode);
    if (const auto creator = fields.number32("creator"); creator != kNoOwner) instance.creator = creator;
    if (const auto owner = fields.number32("owner"); owner != kNoOwner) instance.owner.user = owner;
    instance.owner.declared = fields.text("declared_owner");
    if (const json* quotas = fields.array("quotas"))
        for (const json& quota : *quotas)
            instance.quotas.push_back(
                read_quota(quota, item(fields.place_of("quotas"), instance.quotas.size()), error));
    if (const json* time = fields.object_if_there("time"))
        instance.time = read_time(*time, fields.place_of("time"), error);
    if (const json* idle = fields.object_if_there("idle"))
        instance.idle = read_idle(*idle, fields.place_of("idle"), error);
    if (const json* reservation = fields.object_if_there("reservation"))
        instance.reservation = read_reservation(*reservation, fields.place_of("reservation"), error);
    if (const json* attached = fields.object_if_there("attached"))
        instance.attached = read_process(*attached, fields.place_of("attached"), error);
    fields.refuse_others();
    return instance;
}

}  // namespace cgpu::store
