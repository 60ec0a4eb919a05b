#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "daemon/app/memory/pool/lease_key.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Memory of one GPU that processes of instances have exported (as descriptors), and then freed or left at
/// their end. A descriptor of it keeps it alive, in whichever process that is; the driver then shows no
/// process with it. So it counts as the instance's until the GPU's own figure shows that it is free.
///
/// What the GPU has in use beyond what its processes are shown with is *unattributed*. It has a base, the
/// driver's own part, of some tens of MiB. Memory that was exported and freed is `unsure` at first. It is
/// free as soon as one look at the driver shows nothing unattributed beyond the base and what is counted
/// already. What is still unattributed after kPatience is `settled`: kept by descriptors. It sinks as the
/// unattributed memory does.
///
/// If several instances have unsure memory at once, what is unattributed may be the one's or the other's.
/// Then each of them is charged for it, at most with what it has exported itself.
class KeptExports {
  public:
    /// The driver needs some time to free what a process leaves.
    static constexpr Nanos kPatience = kSecond;
    /// How long the base remembers the smallest figure, at least.
    static constexpr Nanos kBaseFrom = 5 * kSecond;
    /// So much in all on a GPU keeps no instance listed that has no process any more: the driver's own part
    /// changes by about so much.
    static constexpr std::uint64_t kNegligible = std::uint64_t{64} << 20;

    /// A process has exported so much and freed it, or has ended. `looked`: the figures that `seen` gets next
    /// are newer than that, as they are for all that came before the last look_begins().
    void freed(const PoolKey& pool, std::uint64_t bytes, bool looked, Nanos now);
    /// What an earlier daemon has counted.
    void take_up(const PoolKey& pool, std::uint64_t bytes);
    /// The instance has ended. What it has counts as nobody's, so that the base doesn't take it in.
    void forget(const PoolKey& pool);

    /// A look at the driver begins.
    void look_begins();
    void seen(const DriverFigures& figures, Nanos now);
    /// The driver can't be asked: nobody knows what is unattributed.
    void driver_failed();

    /// Bytes that may be free soon, and bytes in all.
    struct Kept {
        std::uint64_t bytes = 0;
        std::uint64_t unsure = 0;  ///< of them

        friend bool operator==(const Kept&, const Kept&) = default;
    };
    [[nodiscard]] Kept of(const PoolKey& pool) const;
    /// Whether a look soon would decide something.
    [[nodiscard]] bool any_unsure() const;
    /// Whether what is settled on this GPU is within kNegligible.
    [[nodiscard]] bool negligible() const { return settled() <= kNegligible; }

  private:
    struct Entry {
        std::uint64_t settled = 0;
        std::uint64_t unsure = 0;  ///< freed before the look that is judged next
        std::uint64_t fresh = 0;   ///< unsure, too: freed since
        Nanos since = 0;           ///< the last of it was freed
    };

    [[nodiscard]] std::uint64_t settled() const;
    void learn_base(std::int64_t unattributed, Nanos now);
    void sink(std::uint64_t bytes);
    void judge_unsure(std::uint64_t excess, Nanos now);

    std::map<PoolKey, Entry> entries_;
    std::uint64_t nobodys_ = 0;  ///< settled, of instances that have ended
    /// Negative where the driver shows one memory for two processes.
    std::optional<std::int64_t> base_;
    std::int64_t least_ = 0;  ///< since `least_from_`
    Nanos least_from_ = 0;
    std::optional<std::int64_t> least_before_;  ///< in the time before that
};

}  // namespace cgpu::app
