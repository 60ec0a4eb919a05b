#pragma once

#include <span>
#include <string>
#include <string_view>

#include "client/cgpuctl/smi/view.hpp"

/// What --query-gpu and --query-instance can print. The names are stable: new ones may be added, none changes
/// its meaning.
namespace cgpu::cgpuctl::smi {

struct GpuRow {
    const View& view;
    const View* before;
    const client::Gpu& gpu;
};

/// An instance on one of its GPUs, or on one that isn't its own.
struct InstanceRow {
    const View& view;
    const View* before;
    const client::Instance& instance;
    const client::OnGpu* place;         ///< null if the GPU isn't the instance's
    const client::ForeignGpu* foreign;  ///< null if it is
    [[nodiscard]] const client::Usage& usage() const {
        return place != nullptr ? place->usage : foreign->usage;
    }
};

template <class Row>
struct Field {
    std::string_view name;
    std::string_view unit;  ///< behind the value, and in the heading; empty: none
    std::string_view help;
    std::string (*value)(const Row&);  ///< without the unit; empty: there is none
};

[[nodiscard]] std::span<const Field<GpuRow>> gpu_fields();
[[nodiscard]] std::span<const Field<InstanceRow>> instance_fields();

}  // namespace cgpu::cgpuctl::smi
