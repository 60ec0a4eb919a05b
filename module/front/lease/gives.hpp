#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/wire/message.hpp"
#include "module/engine/abi/api.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {

/// Returns lease to cgpud: it is taken off the engine's accounts, then sent. Between the two, the engine has
/// less lease than cgpud has granted. A thread that then asked for what the engine lacks could be refused,
/// although the limit isn't reached. So a thread calls `settle` before it asks.
class Gives {
  public:
    constexpr Gives() = default;

    /// Returns up to `wanted` bytes of the lease that `gpu`'s charges leave unused, all but `keep` bytes.
    /// Bytes that couldn't be sent stay leased.
    void give(std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep);
    /// The same for a recall, which is answered even if there is nothing to return.
    void answer(const wire::Recall& recall);

    /// Memory of so many bytes is about to be exported: from then on it may live on without this process.
    /// cgpud knows it before anything that this process does afterwards.
    void will_export(std::uint32_t gpu, std::uint64_t bytes);
    /// Tells the next cgpud.
    void tell_exports_again() const;

    /// Ends the charge of memory that was exported and freed, and returns its lease: from now on cgpud finds
    /// out whether a descriptor keeps it. `bytes`: as they were allocated. Key 0: the
    /// charge has ended with its context. While cgpud is away, the lease stays
    /// here, and counts until the process ends.
    void surrender(std::uint32_t gpu, module::Holding kind, std::uint64_t key, std::uint64_t bytes);

    /// Waits until another thread's Give has been sent: cgpud reads it before the next ask.
    void settle();

    void reset_in_child() {
        mutex_.reset_in_child();
        for (auto& bytes : exported_) bytes.store(0);
    }

  private:
    Mutex mutex_;
    std::array<std::atomic<std::uint64_t>, wire::kMaxGpus> exported_{};  ///< bytes so far
};

Gives& gives();

}  // namespace cgpu::front
