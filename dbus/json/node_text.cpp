#include "dbus/json/node_text.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "dbus/json/view_json.hpp"

namespace cgpu::view {
namespace {

std::string text_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

}  // namespace

std::string node_text(Snapshot node) {
    // The instances one by one: as a tree all of them take several times the memory of their text.
    const auto instances = std::exchange(node.instances, {});
    Json rest = to_json(node);
    rest.erase("instances");
    std::string text = text_of(rest);
    text.back() = ',';
    text += "\"instances\":[";
    for (const Instance& each : instances) {
        text += text_of(to_json(each));
        text += &each == &instances.back() ? "" : ",";
    }
    text += "]}";
    return text;
}

std::string gpu_text(const Gpu& gpu) {
    Json json = to_json(gpu);
    for (const char* figure :
         {"memory_used_bytes", "memory_leased_bytes", "memory_in_driver_bytes", "memory_charged_then_bytes",
          "xid_errors", "last_xid", "strangers_share", "strangers_process"})
        json.erase(figure);
    return text_of(json);
}

std::string gpus_text(const std::vector<std::string>& gpus) {
    std::string text = "{\"gpus\":[";
    const char* before = "";
    for (const auto& gpu : gpus) text.append(std::exchange(before, ",")) += gpu;
    text += "]}";
    return text;
}

std::string limits_text(const Limits& limits) { return text_of(to_json(limits)); }

tl::expected<Limits, std::string> read_limits_text(const std::string& text) {
    Limits limits;
    try {
        JsonReader::read(nlohmann::json::parse(text), limits);
    } catch (const nlohmann::json::exception& error) {
        return tl::unexpected(std::string(error.what()));
    }
    return limits;
}

tl::expected<Snapshot, std::string> read_node_text(const std::string& text) {
    Snapshot node;
    try {
        JsonReader::read(nlohmann::json::parse(text), node);
    } catch (const nlohmann::json::exception& error) {
        return tl::unexpected(std::string(error.what()));
    }
    std::ranges::sort(node.gpus, {},
                      [](const Gpu& gpu) { return std::tuple(!gpu.present, gpu.index, gpu.uuid); });
    std::ranges::sort(node.instances, {},
                      [](const Instance& instance) { return std::tuple(instance.created, instance.id); });
    return node;
}

}  // namespace cgpu::view
