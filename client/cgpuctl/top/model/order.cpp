#include "client/cgpuctl/top/model/order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "core/model/similar.hpp"

namespace cgpu::cgpuctl::top {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"GPU", "NAME", "WT", "DUE", "GOT", "WAIT", "MEMORY"};

template <class Value>
void sort_by(std::vector<InstanceRow>& rows, Value InstanceRow::*figure) {
    std::ranges::stable_sort(rows, std::ranges::greater(), figure);
}

}  // namespace

std::string_view to_string(SortBy column) { return kNames.at(static_cast<std::size_t>(column)); }

SortBy next_of(SortBy column, int steps) {
    const int count = static_cast<int>(kNames.size());
    return static_cast<SortBy>((static_cast<int>(column) + steps % count + count) % count);
}

void sort(std::vector<InstanceRow>& rows, SortBy column) {
    switch (column) {
        case SortBy::gpu:
            std::ranges::stable_sort(rows, {}, &InstanceRow::gpu_index);
            break;
        case SortBy::name:
            std::ranges::stable_sort(rows, {}, &InstanceRow::name);
            break;
        case SortBy::weight:
            sort_by(rows, &InstanceRow::weight);
            break;
        case SortBy::due:
            sort_by(rows, &InstanceRow::due);
            break;
        case SortBy::got:
            sort_by(rows, &InstanceRow::got);
            break;
        case SortBy::waiting:
            sort_by(rows, &InstanceRow::waiting);
            break;
        case SortBy::memory:
            sort_by(rows, &InstanceRow::memory_used);
            break;
    }
}

void filter(std::vector<InstanceRow>& rows, const std::string& text) {
    const std::string wanted = model::lowered(text);
    std::erase_if(rows, [&](const InstanceRow& row) {
        return model::lowered(row.name).find(wanted) == std::string::npos &&
               model::lowered(row.owner).find(wanted) == std::string::npos &&
               !row.place.instance.starts_with(wanted);
    });
}

}  // namespace cgpu::cgpuctl::top
