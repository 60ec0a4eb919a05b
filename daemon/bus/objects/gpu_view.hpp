#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/node.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// The properties of org.cgpu1.Gpu at one moment, in the bus's types.
struct GpuView {
    std::string uuid;
    std::uint32_t index = 0;
    std::string model;
    bool present = false;
    std::string obstacle;
    std::uint64_t memory_total = 0;      ///< bytes
    std::uint64_t memory_allocated = 0;  ///< bytes
    std::uint32_t policy = 0;
    std::string policy_name;
    std::uint32_t max_inst = 0;
    std::uint32_t free_weight = 0;
    std::uint32_t prio_ratio = 0;  ///< per cent
    std::string mode;
    std::vector<sdbus::ObjectPath> instances;
};

/// `mode`: the mode that the node was switched to, which an empty GPU gives to its next instance; empty: the
/// GPU's own.
[[nodiscard]] GpuView view_of(const model::Node& node, const model::Gpu& gpu,
                              std::optional<model::Mode> mode);

/// The names of the properties that differ. Constant properties are not compared.
[[nodiscard]] std::vector<compat::PropertyName> changed_properties(const GpuView& before,
                                                                   const GpuView& after);

}  // namespace cgpu::bus
