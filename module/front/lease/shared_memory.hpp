#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/wire/limits.hpp"

namespace cgpu::front {

/// Counts the memory of other processes that this process has opened (by IPC, from a descriptor, as external
/// memory), and tells cgpud. Such memory is charged to the process that made it. When that process frees it
/// while it is open here, the driver shows it as this process's, and cgpud must not take it for memory past
/// the module.
///
/// Closing is not counted: a figure that is too large only keeps cgpud from killing this process.
class SharedMemory {
  public:
    constexpr SharedMemory() = default;

    /// So many bytes more of a GPU have been opened.
    void opened(int gpu, std::uint64_t bytes);
    /// The same for what lies at an address of the current context.
    void opened_at(std::uint64_t address);
    /// A handle of another process's physical memory has been imported: its mappings are opened memory.
    void imported() { imports_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool any_imported() const { return imports_.load(std::memory_order_relaxed); }

    /// Tells the next cgpud, which doesn't know.
    void tell_again();

    void reset_in_child();

  private:
    std::array<std::atomic<std::uint64_t>, wire::kMaxGpus> bytes_{};
    std::atomic<bool> imports_{false};
};

SharedMemory& shared_memory();

}  // namespace cgpu::front
