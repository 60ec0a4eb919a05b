#include "tests/sim/model/block_heap.hpp"

#include <algorithm>
#include <iterator>

namespace simgpu {

void BlockHeap::add(Region region) {
    regions_[region.base] = Contents{region.size, {{region.base, region.size}}};
    reserved_ += region.size;
}

std::optional<std::uint64_t> BlockHeap::take(std::uint64_t size) {
    size = round_up(size, kGranule);
    for (auto& [base, contents] : regions_) {
        const auto fit = std::find_if(contents.free.begin(), contents.free.end(),
                                      [size](const auto& range) { return range.second >= size; });
        if (fit == contents.free.end()) continue;
        const auto [address, room] = *fit;
        contents.free.erase(fit);
        if (room > size) contents.free[address + size] = room - size;
        taken_[address] = size;
        used_ += size;
        return address;
    }
    return std::nullopt;
}

std::uint64_t BlockHeap::give_back(std::uint64_t address) {
    const auto taken = taken_.find(address);
    if (taken == taken_.end()) return 0;
    const std::uint64_t size = taken->second;
    taken_.erase(taken);
    used_ -= size;

    auto& free = std::prev(regions_.upper_bound(address))->second.free;
    auto range = free.emplace(address, size).first;
    if (const auto next = std::next(range); next != free.end() && address + size == next->first) {
        range->second += next->second;
        free.erase(next);
    }
    if (range != free.begin()) {
        const auto previous = std::prev(range);
        if (previous->first + previous->second == address) {
            previous->second += range->second;
            free.erase(range);
        }
    }
    return size;
}

std::vector<BlockHeap::Region> BlockHeap::remove_empty(std::uint64_t keep) {
    std::vector<Region> removed;
    for (auto region = regions_.begin(); region != regions_.end() && reserved_ > keep;) {
        const auto& [base, contents] = *region;
        const bool empty = contents.free.size() == 1 && contents.free.begin()->second == contents.size;
        if (!empty) {
            ++region;
            continue;
        }
        removed.push_back({base, contents.size});
        reserved_ -= contents.size;
        region = regions_.erase(region);
    }
    return removed;
}

std::vector<BlockHeap::Region> BlockHeap::regions() const {
    std::vector<Region> all;
    for (const auto& [base, contents] : regions_) all.push_back({base, contents.size});
    return all;
}

}  // namespace simgpu
