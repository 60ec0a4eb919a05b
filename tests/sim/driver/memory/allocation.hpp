#pragma once

#include <cstdint>

#include "tests/sim/driver/mapping/shared_memory.hpp"

namespace simgpu {

class Context;
class Pool;

enum class MemoryKind {
    plain,
    managed,
    array,
    pooled,
    graph,  ///< an address that an allocation node of a graph stands for
    host,
    registered,
    mapped,           ///< by cuMemMap
    ipc,              ///< another process's, by cuIpcOpenMemHandle
    imported_pooled,  ///< another process's, by cuMemPoolImportPointer
    external,         ///< by cuExternalMemoryGetMappedBuffer
};

/// A range of addresses that the driver knows. Device memory is memory of this process: a device pointer is
/// its address.
struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    MemoryKind kind = MemoryKind::plain;
    Context* context = nullptr;  ///< nullptr: of no context (mapped)
    std::uint32_t ordinal = 0;   ///< Of the GPU it lies on; kMaxGpus: on none.
    Pool* pool = nullptr;        ///< pooled, imported_pooled
    unsigned int flags = 0;
    std::uint64_t id = 0;
    SharedMemoryPointer shared{};  ///< ipc, imported_pooled, external: what it is a part of
    std::uint64_t shared_at = 0;   ///< ... and where all of that is mapped
    unsigned int opens = 1;        ///< ipc: times it was opened

    bool on_host() const { return kind == MemoryKind::host || kind == MemoryKind::registered; }
    bool of_another_holder() const { return shared != nullptr; }
    /// Whether cuMemFree and cuMemFreeAsync accept it.
    bool can_be_freed() const {
        return !on_host() && kind != MemoryKind::mapped && kind != MemoryKind::ipc &&
               kind != MemoryKind::array;
    }
};

}  // namespace simgpu
