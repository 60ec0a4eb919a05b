#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tests/sim/model/timeline.hpp"

namespace simgpu {

/// What an operation does to this process's memory or objects, once this process sees that it has completed.
using Effect = std::function<void(const Record&)>;

/// What is added to a queue; the rest of the Record is filled in later.
struct Operation {
    RecordKind kind = RecordKind::transfer;
    Nanoseconds duration = 0;               ///< kernel, copy
    std::uint32_t gpus = 0;                 ///< rendezvous
    std::uint32_t engine = 0;               ///< copy
    std::optional<std::int8_t> priority{};  ///< kernel; nothing: its stream's
    std::uint32_t word = 0;  ///< spin, wait_word, write_word, kernel: 1 + index of the memory word; 0: none
    Compare compare = Compare::at_least;  ///< spin, wait_word
    std::uint64_t value = 0;  ///< what is waited for in the word, or written to it; rendezvous: group
    Position wait_for{};      ///< wait
    std::uint64_t wait_serial = 0;
    Effect effect{};
};

}  // namespace simgpu
