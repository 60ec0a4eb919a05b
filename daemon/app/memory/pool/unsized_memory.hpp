#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/app/memory/pool/lease_ask.hpp"
#include "daemon/app/memory/pool/lease_peers.hpp"
#include "daemon/app/memory/pool/unexplained.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// Memory of one process on one GPU beside its lease: contexts, code, heaps. Its size is unknown before it
/// exists, and then only the driver knows it. Bytes are set aside before it is made. The amount by which the
/// driver's figure for the process exceeds its charges replaces them.
///
/// Charges and driver figures are never read at one moment. A figure is accepted as far as kConfirm queries
/// in a row agree with it.
class UnsizedMemory {
  public:
    static constexpr std::size_t kConfirm = 3;
    using What = LeaseAsk::What;

    /// Measured size of one context, module or heap that was created while nothing else was; bytes.
    struct Learnt {
        What what = What::context;
        std::uint64_t asked = 0;
        std::uint64_t taken = 0;
    };
    /// What the pool knows of the process when the driver is queried.
    struct Facts {
        std::uint64_t lease = 0;
        std::optional<LeaseReport> report;  ///< with at most the lease charged; empty: it hasn't reported
        std::uint64_t context = 0;          ///< what one is expected to take here
        /// What the limit leaves for it beside its lease and the memory of the other processes; nothing:
        /// there is no limit.
        std::optional<std::uint64_t> room;
        bool others_blamed = false;  ///< which is why there is so much room
        Nanos now = 0;
    };

    /// Sets whole granules aside for something that is about to be made. `spare`: bytes that it, and what is
    /// being made already, may take beyond that. Nothing else should have them until the driver shows what
    /// was taken; they don't count as used.
    void set_aside(What what, std::uint64_t bytes, std::uint64_t spare, Nanos now);
    /// It exists now.
    void made();
    /// It was not made: the bytes are free again.
    void not_made(std::uint64_t bytes);
    /// Its size may have changed without one of the calls above. `gone`: bytes that the process should have
    /// freed.
    void moved(std::uint64_t gone);
    void context_gone();
    /// The module of the process was disconnected: anything it announced meanwhile is lost.
    void connected_again();
    /// What an earlier daemon counted; part of it may be for things that were never made.
    void take_up(std::uint64_t bytes, Nanos now);

    /// A query of the driver begins.
    void look_begins(std::uint64_t lease, const LeaseReport& bounded);
    /// What the driver showed at some moment since then; nothing where it didn't show the process. Returns
    /// the size of a thing where this figure tells it.
    std::optional<Learnt> figure(std::optional<std::uint64_t> shown, const Facts& facts,
                                 const Unexplained::Settings& settings);

    /// Counted memory: known or set aside.
    [[nodiscard]] std::uint64_t bytes() const { return known_ + pending_; }
    /// The part that the driver has shown.
    [[nodiscard]] std::uint64_t known() const { return known_; }
    /// The part that is set aside and not shown yet, and since when the last of it.
    [[nodiscard]] std::uint64_t pending() const { return pending_; }
    /// What is held back beside the counted memory.
    [[nodiscard]] std::uint64_t spare() const { return spare_; }
    /// A context was made, and the driver hasn't shown it yet.
    [[nodiscard]] bool has_unseen_context() const {
        return measured_ && measured_->what == What::context && coming_ == 0;
    }
    /// The process has told of a context, or may have told an earlier daemon.
    [[nodiscard]] bool told_of_context() const { return told_of_context_; }
    [[nodiscard]] Nanos pending_since() const { return pending_since_; }
    /// Memory that came without the module.
    [[nodiscard]] std::uint64_t unexplained() const { return unexplained_.bytes(); }
    /// Some of that is unexplained, or has been for a moment.
    [[nodiscard]] bool blamed() const { return unexplained_.blamed(); }
    /// The least by which the last queries exceed the whole lease. No claim of the process changes it.
    [[nodiscard]] std::uint64_t beyond_lease() const;
    /// Whether the last figure differs from the counted bytes: another query would help.
    [[nodiscard]] bool unconfirmed() const;

  private:
    /// The range that one figure of the driver proves; bytes.
    struct Range {
        std::uint64_t least = 0;
        std::uint64_t most = 0;
    };
    /// One thing of unknown size that is made while nothing else is.
    struct Measured {
        What what = What::context;
        std::uint64_t asked = 0;
        std::uint64_t before = 0;  ///< what was known without it
        std::uint64_t beside = 0;  ///< set aside for others since
    };

    static Range range_of(std::uint64_t figure, const LeaseReport& report);
    static bool by_least(const Range& a, const Range& b) { return a.least < b.least; }
    static bool by_most(const Range& a, const Range& b) { return a.most < b.most; }
    void forget_figures();
    std::optional<Learnt> believe();
    void judge(Unexplained::Look look, const Facts& facts, const Unexplained::Settings& settings);

    std::uint64_t known_ = 0;
    std::uint64_t pending_ = 0;
    std::uint64_t spare_ = 0;
    Nanos pending_since_ = 0;
    std::uint32_t coming_ = 0;  ///< things being made: figures may not show them yet
    std::optional<Measured> measured_;
    bool told_of_context_ = false;
    bool figured_ = false;                     ///< the driver has shown the process
    bool fresh_ = true;                        ///< nothing was announced since the look at the driver began
    std::uint64_t lease_before_ = 0;           ///< when that look began
    LeaseReport before_;                       ///< what the process reported then
    std::vector<Range> recent_;                ///< of the last kConfirm figures, the newest last
    std::vector<std::uint64_t> beyond_lease_;  ///< the same
    Unexplained unexplained_;
};

}  // namespace cgpu::app
