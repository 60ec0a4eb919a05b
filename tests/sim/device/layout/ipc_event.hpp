#pragma once

#include <cstdint>

namespace simgpu {

/// An event that a process shares with others: the operation that it stands for at the moment.
struct IpcEvent {
    std::uint64_t serial;  ///< Never used twice; 0: the entry is free.
    std::uint32_t owner;   ///< Process slot that made it.
    std::uint32_t gpu;
    std::uint32_t client;
    std::uint32_t queue;
    std::uint64_t sequence;
    std::uint64_t client_serial;  ///< 0: never recorded.
};

constexpr std::uint32_t kMaxIpcEvents = 1024;

}  // namespace simgpu
