#pragma once

#include <cstdint>

namespace simgpu {

enum class Purpose;
class Process;

/// Takes bytes of the card for this process. @return false: the card has no room.
bool charge(const Process& process, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes);
void refund(const Process& process, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes);

/// For allocations.
bool charge(const Process& process, std::uint32_t gpu, std::uint64_t bytes);
void refund(const Process& process, std::uint32_t gpu, std::uint64_t bytes);

}  // namespace simgpu
