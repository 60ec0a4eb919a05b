#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/app/memory/pool/lease_ask.hpp"
#include "daemon/app/memory/pool/lease_peers.hpp"
#include "daemon/app/memory/pool/unexplained.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// What one process has of a GPU beside its lease: contexts, code, heaps. Nobody knows its size before it
/// exists, and only the driver knows it then. Bytes are set aside for it before it is made, and what the
/// driver shows of the process beyond its charges takes their place.
///
/// What is charged and what the driver shows are never read at one moment. A figure is believed as far as
/// kConfirm looks in a row agree with it.
class UnsizedMemory {
  public:
    static constexpr std::size_t kConfirm = 3;
    using What = LeaseAsk::What;

    /// What a thing that was made while nothing else was turned out to take; bytes.
    struct Learnt {
        What what = What::context;
        std::uint64_t asked = 0;
        std::uint64_t taken = 0;
    };
    /// What the pool knows of the process at a look at the driver.
    struct Facts {
        std::uint64_t lease = 0;
        std::optional<LeaseReport>
            report;                 ///< with no more charged than the lease; nothing: it hasn't reported
        std::uint64_t context = 0;  ///< what one is expected to take here
        /// What the limit leaves for it beside its lease and what the others hold; nothing: there is no
        /// limit.
        std::optional<std::uint64_t> room;
        bool others_blamed = false;  ///< which is why there is so much room
        Nanos now = 0;
    };

    /// Whole granules are set aside for something that is about to be made.
    void set_aside(What what, std::uint64_t bytes, Nanos now);
    /// One such thing exists now.
    void made();
    /// It came to nothing: the bytes are free again.
    void not_made(std::uint64_t bytes);
    /// It may have changed without one of the above. `gone`: bytes that the process should be rid of.
    void moved(std::uint64_t gone);
    void context_gone();
    /// The module of the process was away: what it announced meanwhile is lost.
    void connected_again();
    /// What an earlier daemon counted, partly perhaps for what was never made.
    void take_up(std::uint64_t bytes, Nanos now);

    /// A look at the driver begins.
    void look_begins(std::uint64_t lease, const LeaseReport& bounded);
    /// What the driver showed at some moment since then; nothing where it didn't show the process. Answers
    /// the size of a thing where this figure tells it.
    std::optional<Learnt> figure(std::optional<std::uint64_t> shown, const Facts& facts,
                                 const Unexplained::Settings& settings);

    /// What is counted: known or set aside.
    [[nodiscard]] std::uint64_t bytes() const { return known_ + pending_; }
    /// What the driver has shown.
    [[nodiscard]] std::uint64_t known() const { return known_; }
    /// What is set aside and hasn't been shown yet, and since when the last of it.
    [[nodiscard]] std::uint64_t pending() const { return pending_; }
    [[nodiscard]] Nanos pending_since() const { return pending_since_; }
    /// What came past the module.
    [[nodiscard]] std::uint64_t unexplained() const { return unexplained_.bytes(); }
    /// Some of that is unexplained, or has been for a moment.
    [[nodiscard]] bool blamed() const { return unexplained_.blamed(); }
    /// Beyond the whole lease, by each of the last looks at least. No word of the process changes it.
    [[nodiscard]] std::uint64_t beyond_lease() const;
    /// The last figure differs from what is counted: another look would help.
    [[nodiscard]] bool unconfirmed() const;

  private:
    /// By one figure of the driver's, as far as it can be told; bytes.
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
    Nanos pending_since_ = 0;
    std::uint32_t coming_ = 0;  ///< things being made: what no figure shows of them may still come
    std::optional<Measured> measured_;
    bool figured_ = false;                     ///< the driver has shown the process
    bool fresh_ = true;                        ///< nothing was announced since the look at the driver began
    std::uint64_t lease_before_ = 0;           ///< when that look began
    LeaseReport before_;                       ///< what the process reported then
    std::vector<Range> recent_;                ///< of the last kConfirm figures, the newest last
    std::vector<std::uint64_t> beyond_lease_;  ///< the same
    Unexplained unexplained_;
};

}  // namespace cgpu::app
