#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "client/cgpuctl/top/base/styled.hpp"
#include "client/cgpuctl/top/model/order.hpp"
#include "client/cgpuctl/top/model/rows.hpp"

/// The two tables of the screen: a line each row. Columns that don't fit into the width are left out, the
/// least important one first.
namespace cgpu::cgpuctl::top {

[[nodiscard]] Line gpu_line(const GpuRow& gpu, std::size_t width, bool utf8);

[[nodiscard]] Line instance_heading(SortBy sorted_by, std::size_t width);
[[nodiscard]] Line instance_line(const InstanceRow& row, bool selected, std::size_t width, bool utf8);

}  // namespace cgpu::cgpuctl::top
