#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace simgpu {

constexpr std::uint64_t kBlock = std::uint64_t{2}
                                 << 20;  ///< What device memory is handed out and counted in.
constexpr std::uint64_t kGranule = 512;  ///< Alignment of every device pointer.

constexpr std::uint64_t kLongestAllocation = std::uint64_t{1} << 46;  ///< Keeps all sums within 64 bits.

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

/// Divides regions of device memory among allocations: first fit, in the order of addresses, never across
/// regions. Addresses are only numbers here; no memory is accessed.
class BlockHeap {
  public:
    struct Region {
        std::uint64_t base;
        std::uint64_t size;
    };

    void add(Region region);

    /// @param size rounded up to kGranule. @return the address; nothing where no region has room.
    std::optional<std::uint64_t> take(std::uint64_t size);

    /// Frees what take() returned. @return its size; 0 if take() never returned it.
    std::uint64_t give_back(std::uint64_t address);

    /// Removes empty regions, until at most `keep` bytes of regions are left or none is empty.
    std::vector<Region> remove_empty(std::uint64_t keep);

    std::uint64_t reserved() const { return reserved_; }
    std::uint64_t used() const { return used_; }
    std::vector<Region> regions() const;

  private:
    struct Contents {
        std::uint64_t size;
        std::map<std::uint64_t, std::uint64_t> free;  ///< address → bytes, never two that touch
    };

    std::map<std::uint64_t, Contents> regions_;
    std::map<std::uint64_t, std::uint64_t> taken_;
    std::uint64_t reserved_ = 0;
    std::uint64_t used_ = 0;
};

}  // namespace simgpu
