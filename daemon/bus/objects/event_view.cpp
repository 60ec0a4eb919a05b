#include "daemon/bus/objects/event_view.hpp"

#include <string>
#include <type_traits>

#include "core/model/utf8.hpp"

namespace cgpu::bus {
namespace {

/// Names of files have any bytes, and the bus takes UTF-8 only.
template <class T>
sdbus::Variant variant_of(const T& value) {
    if constexpr (std::is_same_v<T, std::string>)
        return sdbus::Variant(model::valid_utf8(value));
    else
        return sdbus::Variant(value);
}

}  // namespace

std::map<std::string, sdbus::Variant> details_of(const app::Event& event) {
    std::map<std::string, sdbus::Variant> all;
    for (const auto& [detail, value] : event.details)
        std::visit([&, &name = detail](const auto& each) { all.emplace(name, variant_of(each)); }, value);
    if (event.instance) all.emplace("instance", sdbus::Variant(event.instance->str()));
    if (!event.name.empty()) all.emplace("name", variant_of(event.name));
    if (event.gpu_index) all.emplace("gpu", sdbus::Variant(*event.gpu_index));
    if (event.gpu) all.emplace("gpu-uuid", sdbus::Variant(event.gpu->to_string()));
    if (event.process > 0) all.emplace("pid", sdbus::Variant(static_cast<std::uint32_t>(event.process)));
    if (event.by) all.emplace("caller-uid", sdbus::Variant(event.by->user));
    if (event.by && event.by->pid > 0)
        all.emplace("caller-pid", sdbus::Variant(static_cast<std::uint32_t>(event.by->pid)));
    return all;
}

}  // namespace cgpu::bus
