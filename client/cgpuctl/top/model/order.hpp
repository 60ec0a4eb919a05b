#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cgpuctl/top/model/rows.hpp"

namespace cgpu::cgpuctl::top {

/// The columns by which instances can be sorted, from the left to the right of the screen.
enum class SortBy { gpu, name, weight, due, got, waiting, memory };

[[nodiscard]] std::string_view to_string(SortBy column);
/// `steps` columns further to the right; after the last comes the first.
[[nodiscard]] SortBy next_of(SortBy column, int steps);

/// Names from A to Z, GPUs by index, figures from the largest; those without one come last. Equal rows stay
/// in their order.
void sort(std::vector<InstanceRow>& rows, SortBy column);

/// Leaves those whose name has the text in it, in any case, or whose id begins with it.
void filter(std::vector<InstanceRow>& rows, const std::string& text);

}  // namespace cgpu::cgpuctl::top
