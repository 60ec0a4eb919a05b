#pragma once

#include <optional>
#include <vector>

#include "core/model/occupancy.hpp"
#include "core/view/gpu.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// The properties of org.cgpu1.Gpu at one moment; figures of usage aren't among them.
struct GpuView : view::Gpu {
    std::vector<sdbus::ObjectPath> instances;
};

/// `mode`: the mode that the node was switched to, which an empty GPU gives to its next instance; empty: the
/// GPU's own.
[[nodiscard]] GpuView view_of(const model::Occupancy& now, const model::Gpu& gpu,
                              std::optional<model::Mode> mode);

/// The names of the properties that differ. Constant properties are not compared.
[[nodiscard]] std::vector<compat::PropertyName> changed_properties(const GpuView& before,
                                                                   const GpuView& after);

}  // namespace cgpu::bus
