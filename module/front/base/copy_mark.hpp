#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace cgpu::front {

/// From now on, whole pages of private memory are zero in every copy of the process.
/// @return false: the kernel has no such pages (before Linux 4.14).
bool wipe_in_copies(void* pages, std::size_t bytes);

/// Detects a copy of the process that was made without libc's fork (a bare clone): in such a copy no fork
/// handler has run, locks are as they were, the connection belongs to the first process, and there is no
/// service thread. The word is in a page that the kernel wipes in copies (MADV_WIPEONFORK). Without
/// such pages nothing is treated as a copy.
class CopyMark {
  public:
    constexpr CopyMark() = default;

    /// From here on this process doesn't count as a copy.
    void set();
    [[nodiscard]] bool is_copy() const {
        return word_.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) == 0;
    }

  private:
    static constexpr std::uint32_t kOriginal = 1;
    static constinit const std::atomic<std::uint32_t> never_wiped;

    std::atomic<std::uint32_t>* page_ = nullptr;
    std::atomic<const std::atomic<std::uint32_t>*> word_{&never_wiped};
};

}  // namespace cgpu::front
