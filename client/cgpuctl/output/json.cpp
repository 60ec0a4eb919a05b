#include "client/cgpuctl/output/json.hpp"

#include <algorithm>

namespace cgpu::cgpuctl {
Json to_json(const client::UnmanagedContainer& container, const std::vector<client::Gpu>& gpus) {
    Json places = Json::array();
    for (const client::Gpu& gpu : gpus) {
        const auto held = container.memory.find(gpu.uuid);
        const bool named = container.gpus.empty() || std::find(container.gpus.begin(), container.gpus.end(),
                                                               gpu.uuid) != container.gpus.end();
        if (!named && held == container.memory.end()) continue;
        places.push_back({{"uuid", gpu.uuid},
                          {"index", gpu.index},
                          {"memory_limit_bytes", Json()},
                          {"memory_used_bytes", held == container.memory.end() ? 0 : held->second}});
    }
    return {
        {"id", container.id},
        {"name", container.name},
        {"state", "unmanaged"},
        {"pid", container.pid},
        {"created_seconds", container.created},
        {"module_version", ""},
        {"managed", false},
        {"gpus", std::move(places)},
        {"foreign_gpus", Json::array()},
    };
}

Json to_json(const client::DriverLimits& limits) {
    return {
        {"backend", limits.backend},
        {"why_none", limits.why_none},
        {"own_limit_bytes", limits.own_limit ? Json(*limits.own_limit) : Json()},
    };
}

std::string to_text(const Json& json) {
    // Plain ASCII: names of others may have characters that a terminal obeys.
    return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace cgpu::cgpuctl
