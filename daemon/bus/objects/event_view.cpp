#include "daemon/bus/objects/event_view.hpp"

namespace cgpu::bus {

std::map<std::string, sdbus::Variant> details_of(const app::Event& event) {
    std::map<std::string, sdbus::Variant> all;
    for (const auto& [detail, value] : event.details)
        std::visit([&, &name = detail](const auto& each) { all.emplace(name, sdbus::Variant(each)); }, value);
    if (event.instance) all.emplace("instance", sdbus::Variant(event.instance->str()));
    if (!event.name.empty()) all.emplace("name", sdbus::Variant(event.name));
    if (event.gpu_index) all.emplace("gpu", sdbus::Variant(*event.gpu_index));
    if (event.gpu) all.emplace("gpu-uuid", sdbus::Variant(event.gpu->to_string()));
    if (event.process > 0) all.emplace("pid", sdbus::Variant(static_cast<std::uint32_t>(event.process)));
    if (event.by) all.emplace("caller-uid", sdbus::Variant(event.by->user));
    if (event.by && event.by->pid > 0)
        all.emplace("caller-pid", sdbus::Variant(static_cast<std::uint32_t>(event.by->pid)));
    return all;
}

}  // namespace cgpu::bus
