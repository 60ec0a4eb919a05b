#pragma once

#include <cstdint>

#include "module/engine/compute/lengths/functions.hpp"

namespace cgpu::module {

/// Chooses launches to be measured by themselves, in programs that launch more slowly than the GPU works. The
/// batches of such a program contain idle time: they show the pace of its launches, not the length of its
/// kernels. Only samples tell whether the estimates, and with them the idle time that isn't charged, are
/// still right. They are taken more often while they differ from the estimates. Their distance is random,
/// because a program may repeat a sequence of kernels.
///
/// If several streams are in use, launches of the others are held for the time of the sample's kernel.
class Sampling {
  public:
    /// A launch that asks to pass.
    struct Asked {
        std::int64_t now_ns;
        std::uint64_t launches;  ///< of the process on this GPU so far
        std::uint64_t context;
        std::uint64_t stream;
        bool begins_batch;
        bool doubted;      ///< the estimate of its function is
        bool any_doubted;  ///< that of any function is
        std::int64_t in_flight_ns;
        bool beside;  ///< other streams have unfinished work
        bool idle;    ///< no stream has any
        bool waits;   ///< the program waits for its batches, and few of them are measured
    };
    enum class Turn {
        pass,   ///< nothing special
        alone,  ///< it is measured by itself; nothing runs beside it
        wait,   ///< until the GPU is idle, or the sample of another stream has ended
    };
    Turn turn(const Asked& asked);
    /// wait: until then.
    [[nodiscard]] std::int64_t ask_again_at(std::int64_t now_ns) const;

    /// A batch of several launches has ended. `drained`: the GPU was done with it when it was closed.
    void batch_ended(bool drained) { draining_ = drained; }
    [[nodiscard]] bool draining() const { return draining_; }
    /// A launch was measured by itself. Returns whether the kernels have changed: the last samples were all
    /// longer, or all shorter, than estimated.
    bool sampled(Functions::Change change);
    /// No sample is in flight any more: it has ended, or was lost.
    void free_gpu();

    /// Launches that may pass before the next question.
    [[nodiscard]] std::uint64_t until_next(std::uint64_t launches) const;

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(draining_);
        visit(agreements_);
        visit(streak_);
        visit(sampled_at_);
        visit(next_at_);
        visit(sampled_ns_);
        visit(random_);
        visit(quiet_until_ns_);
        visit(running_);
        visit(held_);
        visit(context_);
        visit(stream_);
        visit(quiet_after_ns_);
        visit(pause_ns_);
        visit(next_if_slow_at_);
        visit(next_ns_);
    }

    static constexpr std::uint64_t kUsual = 512;     ///< launches from one sample to the next, at least
    static constexpr std::uint32_t kAgreements = 3;  ///< samples in a row, before they become rarer

  private:
    /// From one sample to the next: so many launches at least, or that time and a few launches; up to twice
    /// as many, chosen at random.
    struct Pace {
        std::uint64_t launches;
        std::int64_t ns;
        std::uint64_t few_launches;
        std::int64_t quiet_ns;  ///< if other streams have to wait for it, which takes them some 0.1 ms
    };
    static const Pace kSettled;
    /// In a program that waits, a sample divides a batch in two, and the next ones are measured, too.
    static const Pace kSettledWaiting;
    static const Pace kUnsettled;
    [[nodiscard]] const Pace& pace(const Asked& asked) const;
    bool is_due(const Asked& asked);
    void count_from(const Asked& asked);
    [[nodiscard]] bool settled() const;
    void take(const Asked& asked);
    void abandon(std::int64_t now_ns);

    bool draining_ = false;
    std::uint32_t agreements_ = kAgreements;  ///< samples in a row that agreed with the estimates
    int streak_ = 0;                          ///< samples in a row that were longer (or, negative, shorter)
    // The last sample, and from when on the next one is due: after so many launches, or at that time if
    // there have been a few.
    std::uint64_t sampled_at_ = 0;  ///< launches then
    std::int64_t sampled_ns_ = 0;
    std::uint64_t next_at_ = 0;
    std::uint64_t next_if_slow_at_ = 0;
    std::int64_t next_ns_ = 0;
    std::uint64_t random_ = 0;  ///< 0: not begun

    std::int64_t quiet_until_ns_ = 0;  ///< 0: no stream has the GPU for itself, or waits for that
    bool running_ = false;             ///< its sample is in flight
    bool held_ = false;                ///< launches were held for it
    std::uint64_t context_ = 0;        ///< the stream
    std::uint64_t stream_ = 0;
    std::int64_t quiet_after_ns_ = 0;  ///< the next time
    std::int64_t pause_ns_ = 0;        ///< until then at least, since others were held in vain
};

}  // namespace cgpu::module
