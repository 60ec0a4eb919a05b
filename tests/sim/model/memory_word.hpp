#pragma once

#include <cstdint>

namespace simgpu {

/// How a wait compares a word of memory: the values of CU_STREAM_WAIT_VALUE_*.
enum class Compare : std::uint8_t { at_least = 0, equal = 1, any_bit = 2, not_all_bits = 3 };

/// A word of memory that operations wait for or write. The process that owns the memory copies the word to
/// here when it reads it. Writes by operations happen here to the nanosecond, and in memory when the process
/// observes them.
struct MemoryWord {
    std::uint32_t taken_by;  ///< 1 + process slot; 0: free
    std::uint32_t bytes;     ///< 4 or 8
    std::uint64_t value;
};

constexpr std::uint32_t kMaxWords = 256;

/// Whether a wait for `wanted` is over. at_least is CUDA's cyclic comparison: the difference isn't negative.
inline bool is_satisfied(const MemoryWord& word, Compare compare, std::uint64_t wanted) {
    const int unused_bits = word.bytes == 8 ? 0 : 32;
    const std::uint64_t mask = ~std::uint64_t{0} >> unused_bits;
    const std::uint64_t value = word.value & mask;
    wanted &= mask;
    switch (compare) {
        case Compare::at_least:
            return static_cast<std::int64_t>((value - wanted) << unused_bits) >= 0;
        case Compare::equal:
            return value == wanted;
        case Compare::any_bit:
            return (value & wanted) != 0;
        case Compare::not_all_bits:
            return (~(value | wanted) & mask) != 0;
    }
    return false;
}

}  // namespace simgpu
