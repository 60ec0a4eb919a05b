#pragma once

#include <atomic>
#include <cstdint>

namespace cgpu::front {

/// Numbers the changes after which the threads' knowledge about their launches may be outdated: a context was
/// made, a context's limits changed, code was unloaded (the handles of its functions may be used again), or a
/// function's first launch failed. A number comes again after two thousand million changes only.
///
/// In a copy of the process that is made without libc's fork the number is 0, which no change ever has: what
/// the copy's threads know belongs to the first process. For that it is in a page of its own that the kernel
/// wipes in copies (see CopyMark), so that reading it costs no more than a load.
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
    // Not wiped: a forked child continues the count, so nothing that its parent knew passes for new.
    std::atomic<std::uint32_t> counted_{0};
    std::atomic<bool> marked_{false};
};

inline constinit LaunchChanges launch_changes{};

}  // namespace cgpu::front
