#pragma once

#include <cstdint>

#include "core/wire/message.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {

/// Gives lease back to cgpud: it is taken off the engine's books, then sent. Between the two, the engine has
/// less lease than cgpud has given. A thread that then asked for what the engine lacks would be refused,
/// though the limit isn't reached. So a thread calls `settle` before it asks.
class Gives {
  public:
    constexpr Gives() = default;

    /// Gives up to `wanted` bytes of the lease that `gpu`'s charges leave unused, all but `keep` bytes. What
    /// couldn't be sent stays leased.
    void give(std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep);
    /// The same for a recall, which is answered where there is nothing to give, too.
    void answer(const wire::Recall& recall);

    /// Waits until what another thread is about to give has been sent: cgpud reads it before the next ask.
    void settle();

    void reset_in_child() { mutex_.reset_in_child(); }

  private:
    Mutex mutex_;
};

Gives& gives();

}  // namespace cgpu::front
