#pragma once

#include <atomic>
#include <cstdint>

namespace cgpu::front {

/// Numbers the changes after which what threads know of their launches may hold no longer: a context is new,
/// what one's limits ask for changes, code was unloaded (its functions' handles may be used again), or a
/// function's first launch came to nothing. No number comes twice (until two thousand million have passed).
///
/// In a copy of the process that is made past libc's fork the number is 0, which it never is where anything
/// was told: what its threads know is the first process's. It lies in a page of its own for that, which the
/// kernel wipes (see CopyMark), and so that looks at it cost no more than a load.
class LaunchChanges {
  public:
    [[gnu::always_inline]] std::uint32_t load(std::memory_order order = std::memory_order_seq_cst) const {
        return page_.latest.load(order);
    }
    /// Something has changed.
    void note();

  private:
    static constexpr std::size_t kPageBytes = 4096;  // x86-64 has no other

    struct alignas(kPageBytes) Page {
        std::atomic<std::uint32_t> latest{0};
    };
    Page page_;
    // Not wiped: a forked child goes on counting, so nothing that its parent knew is taken for new.
    std::atomic<std::uint32_t> counted_{0};
    std::atomic<bool> marked_{false};
};

inline constinit LaunchChanges launch_changes{};

}  // namespace cgpu::front
