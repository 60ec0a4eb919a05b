#pragma once

#include <cstdint>

#include "tests/sim/driver/stream/operation.hpp"

namespace simgpu {

class Runtime;

/// Binds the operation to the word at `address` of 4 or 8 bytes, until the process sees its completion; a
/// write is done in memory then. Blocks while all words of the device are taken.
void take_word(Runtime& runtime, Operation& operation, std::uint64_t address, std::uint32_t bytes);

}  // namespace simgpu
