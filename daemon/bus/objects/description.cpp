#include "daemon/bus/objects/description.hpp"

#include <nlohmann/json.hpp>

#include "daemon/bus/objects/gpu_view.hpp"
#include "daemon/bus/objects/instance_view.hpp"

namespace cgpu::bus {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

Json of_gpu(const GpuView& gpu) {
    return {
        {"uuid", gpu.uuid},
        {"index", gpu.index},
        {"model", gpu.model},
        {"present", gpu.present},
        {"obstacle", gpu.obstacle},
        {"mode", gpu.mode},
        {"policy", gpu.policy},
        {"policy_name", gpu.policy_name},
        {"max_inst", gpu.max_inst},
        {"free_weight", gpu.free_weight},
        {"prio_ratio", static_cast<double>(gpu.prio_ratio) / 100},
        {"memory_total_bytes", gpu.memory_total},
        {"memory_allocated_bytes", gpu.memory_allocated},
    };
}

Json of_instance(const model::Node& node, const model::Instance& instance, const InstanceView& view) {
    Json gpus = Json::array();
    for (const model::Quota& quota : instance.quotas) {
        const model::Gpu* gpu = node.find_gpu(quota.gpu);
        gpus.push_back({{"uuid", quota.gpu.to_string()},
                        {"index", gpu == nullptr ? 0 : gpu->index},
                        {"memory_limit_bytes", quota.memory_limit.count()},
                        {"weight", quota.weight},
                        {"asked_share", quota.percent ? Json(*quota.percent / 100.0) : Json()},
                        {"high_priority", quota.high_priority}});
    }
    return {
        {"id", view.id},
        {"name", view.name},
        {"image", view.image},
        {"state", view.state},
        {"pid", view.pid},
        {"created_seconds", view.created},
        {"module_version", view.module_version},
        {"managed", true},
        {"gpus", std::move(gpus)},
    };
}

Json of_unmanaged(const model::InstanceId& id, const app::UnmanagedContainer& container) {
    Json gpus = Json::array();
    for (const auto& gpu : container.gpus) gpus.push_back(gpu.to_string());
    return {
        {"id", id.str()},
        {"name", container.name},
        {"pid", container.attached ? container.attached->pid : 0},
        {"created_seconds", container.created},
        {"booked", container.whole},
        {"gpus", std::move(gpus)},
    };
}

Json of_kept(const model::KeptKey& key, const model::KeptFigures& figures) {
    return {
        {"name", key.name},
        {"owner", key.owner},
        {"device", key.device},
        {"memory_limit_bytes", figures.memory_limit ? Json(figures.memory_limit->count()) : Json()},
        {"weight", or_null(figures.weight)},
        {"high_priority", or_null(figures.high_priority)},
    };
}

}  // namespace

std::string describe_node(const app::Service& service, const app::Upgrader& upgrader,
                          const app::UnmanagedContainers& unmanaged, const std::string& version,
                          const app::ConfigurationProblems& problems) {
    const model::Node& node = service.node();
    Json all = {
        {"generation", node.generation()},
        {"version", version},
        {"module_version", upgrader.installed_in_force()},
        {"mode", model::to_string(upgrader.mode_of_node())},
        {"mode_source", upgrader.mode() ? "switched" : "configuration"},
        {"default_memory_bytes", service.default_memory().count()},
        {"default_memory_source", node.default_memory() ? "set" : "configuration"},
        {"configuration_problems", Json::array()},
        {"gpus", Json::array()},
        {"instances", Json::array()},
        {"unmanaged", Json::array()},
        {"kept", Json::array()},
    };
    for (const auto& problem : problems)
        all["configuration_problems"].push_back({{"file", problem.file},
                                                 {"line", problem.line},
                                                 {"message", problem.message},
                                                 {"since_seconds", problem.since}});
    for (const auto& gpu : node.gpus()) all["gpus"].push_back(of_gpu(view_of(node, gpu, upgrader.mode())));
    for (const auto& [id, instance] : node.instances())
        all["instances"].push_back(
            of_instance(node, instance, view_of(node, instance, upgrader.versions(id))));
    for (const auto& [id, container] : unmanaged.all())
        all["unmanaged"].push_back(of_unmanaged(id, container));
    for (const auto& [key, figures] : node.kept()) all["kept"].push_back(of_kept(key, figures));
    // Names may have bytes that a string of the bus can't have.
    return all.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace cgpu::bus
