#include "daemon/gpu/messages/answer.hpp"

#include <array>
#include <utility>

#include "daemon/gpu/messages/line.hpp"

namespace cgpu::gpu {
namespace {

using Backend = app::DriverLimits::Backend;
using model::Refusal;

constexpr auto kMost32 = std::numeric_limits<std::uint32_t>::max();
/// Those that the reader gives.
constexpr std::array kReasons{Refusal::Reason::unsupported, Refusal::Reason::not_found};

std::int32_t pid(const Json& object) {
    return static_cast<std::int32_t>(number(object, "pid", std::numeric_limits<std::int32_t>::max()));
}

Json written(const std::vector<app::DriverProcess>& processes) {
    Json all = Json::array();
    for (const auto& process : processes) all.push_back({{"pid", process.pid}, {"bytes", process.bytes}});
    return all;
}

std::vector<app::DriverProcess> processes_in(const Json& object) {
    std::vector<app::DriverProcess> all;
    for (const Json& each : array(object, "processes")) all.push_back({pid(each), number(each, "bytes")});
    return all;
}

Json written(const app::DriverLimits& limits) {
    Json all{{"why_none", limits.why_none}, {"backend", limits.backend_name()}};
    if (limits.own_limit) all["own_limit"] = limits.own_limit->count();
    return all;
}

app::DriverLimits limits_in(const Json& object) {
    const Json& limits = field(object, "limits");
    const std::string named = text(limits, "backend");
    app::DriverLimits read{Backend::none, text(limits, "why_none"), std::nullopt};
    bool known = false;
    for (const auto& [backend, name] : app::DriverLimits::kNames) {
        if (named != name) continue;
        read.backend = backend;
        known = true;
    }
    if (!known) throw Malformed{"backend: it is none of none, misc and dmem"};
    if (limits.contains("own_limit")) read.own_limit = model::Bytes(number(limits, "own_limit"));
    return read;
}

void read(const Json& message, model::SeenGpus& seen) {
    for (const Json& each : array(message, "gpus")) {
        model::SeenGpu& gpu = seen.gpus.emplace_back(
            model::SeenGpu{uuid(each, "uuid"), static_cast<std::uint32_t>(number(each, "index", kMost32)),
                           text(each, "name"), model::Bytes(number(each, "total")), text(each, "obstacle")});
        if (each.contains("pci")) gpu.pci = model::PciAddress::parse(text(each, "pci"));
        seen.memory_used[gpu.uuid] = model::Bytes(number(each, "used"));
    }
    for (const Json& each : array(message, "lost"))
        seen.lost.push_back({static_cast<std::uint32_t>(number(each, "index", kMost32)), text(each, "why")});
    for (const Json& each : array(message, "xids"))
        seen.xids.push_back({uuid(each, "gpu"), number(each, "code")});
    for (const Json& each : array(message, "mps_servers"))
        seen.mps_servers.push_back({uuid(each, "gpu"), pid(each)});
}

void read(const Json& message, app::DriverFigures& figures) {
    figures.processes = processes_in(message);
    if (message.contains("used_before")) figures.used_before = number(message, "used_before");
    if (message.contains("used_after")) figures.used_after = number(message, "used_after");
}

void read(const Json& message, app::ExaminedDriver& driver) {
    driver.version = text(message, "version");
    for (const Json& each : array(message, "gpus")) {
        app::ExaminedGpu gpu{uuid(each, "uuid"), std::nullopt, processes_in(each), limits_in(each)};
        if (each.contains("persistence")) gpu.persistence = number(each, "persistence", 1) != 0;
        driver.gpus.push_back(std::move(gpu));
    }
}

void read(const Json& message, std::vector<app::UtilizationSample>& samples) {
    for (const Json& each : array(message, "samples"))
        samples.push_back({pid(each), number(each, "percent"), number(each, "time")});
}

Refusal refusal_in(const Json& refusal) {
    const std::string named = text(refusal, "reason");
    for (const auto reason : kReasons)
        if (named == model::to_string(reason)) return {reason, text(refusal, "text")};
    throw Malformed{"reason: it is none that the reader gives"};
}

}  // namespace

std::string encode(std::uint64_t id, const model::SeenGpus& seen) {
    Json message{{"id", id}};
    for (const char* list : {"gpus", "lost", "xids", "mps_servers"}) message[list] = Json::array();
    for (const auto& gpu : seen.gpus) {
        const auto used = seen.memory_used.find(gpu.uuid);
        message["gpus"].push_back({{"uuid", gpu.uuid.to_string()},
                                   {"index", gpu.index},
                                   {"name", gpu.model_name},
                                   {"total", gpu.total.count()},
                                   {"used", used == seen.memory_used.end() ? 0 : used->second.count()},
                                   {"obstacle", gpu.obstacle}});
        if (gpu.pci) message["gpus"].back()["pci"] = gpu.pci->to_string();
    }
    for (const auto& gpu : seen.lost) message["lost"].push_back({{"index", gpu.index}, {"why", gpu.why}});
    for (const auto& xid : seen.xids)
        message["xids"].push_back({{"gpu", xid.gpu.to_string()}, {"code", xid.code}});
    for (const auto& server : seen.mps_servers)
        message["mps_servers"].push_back({{"gpu", server.gpu.to_string()}, {"pid", server.pid}});
    return write_line(message);
}

std::string encode(std::uint64_t id, const app::DriverFigures& figures) {
    Json message{{"id", id}, {"processes", written(figures.processes)}};
    if (figures.used_before) message["used_before"] = *figures.used_before;
    if (figures.used_after) message["used_after"] = *figures.used_after;
    return write_line(message);
}

std::string encode(std::uint64_t id, const app::ExaminedDriver& driver) {
    Json message{{"id", id}, {"version", driver.version}, {"gpus", Json::array()}};
    for (const auto& gpu : driver.gpus) {
        Json each{{"uuid", gpu.uuid.to_string()},
                  {"processes", written(gpu.processes)},
                  {"limits", written(gpu.limits)}};
        if (gpu.persistence) each["persistence"] = *gpu.persistence ? 1 : 0;
        message["gpus"].push_back(std::move(each));
    }
    return write_line(message);
}

std::string encode(std::uint64_t id, const std::vector<app::UtilizationSample>& samples) {
    Json message{{"id", id}, {"samples", Json::array()}};
    for (const auto& each : samples)
        message["samples"].push_back({{"pid", each.pid}, {"percent", each.percent}, {"time", each.time_us}});
    return write_line(message);
}

std::string encode(std::uint64_t id, const Refusal& refusal) {
    return write_line(
        {{"id", id}, {"refusal", {{"reason", model::to_string(refusal.reason)}, {"text", refusal.text}}}});
}

template <class T>
std::optional<Answer<T>> parse_answer(std::string_view line) {
    try {
        const Json message = read_line(line);
        Answer<T> answer{number(message, "id"), T{}};
        if (message.contains("refusal"))
            answer.result = tl::unexpected(refusal_in(field(message, "refusal")));
        else
            read(message, *answer.result);
        return answer;
    } catch (const Malformed&) {
        return std::nullopt;
    }
}

template std::optional<Answer<model::SeenGpus>> parse_answer(std::string_view line);
template std::optional<Answer<app::DriverFigures>> parse_answer(std::string_view line);
template std::optional<Answer<app::ExaminedDriver>> parse_answer(std::string_view line);
template std::optional<Answer<std::vector<app::UtilizationSample>>> parse_answer(std::string_view line);

}  // namespace cgpu::gpu
