#pragma once

#include <cstdint>

#include "module/engine/base/map.hpp"

namespace cgpu::module {

/// How long the kernels of each function take, learnt from measurements.
class Functions {
  public:
    explicit Functions(const EngineHost& host) : known_(host) {}

    /// GPU nanoseconds of one launch; 0: not measured yet.
    std::int64_t estimate(std::uint64_t function);

    /// A launch took this long with nothing else running beside it. One sample changes an estimate by a
    /// quarter, and counts as at most four times the estimate, so that a rare long run doesn't delay the
    /// short ones. Returns whether it differs much from what was learnt.
    enum class Change { none, longer, shorter };
    Change learn(std::uint64_t function, std::int64_t ns);
    /// The same with other work beside it: an upper bound. The smallest one counts until there is a sample
    /// without other work. `sinks`: from then on, too, a smaller one changes the estimate. Only if samples
    /// without other work include waits; otherwise functions of varying length would be estimated too short.
    void learn_roughly(std::uint64_t function, std::int64_t ns, bool sinks);
    /// Launches of several functions took `measured` together, while `expected` was estimated: all estimates
    /// are changed by at most a factor of two.
    void correct(std::uint64_t function, std::int64_t measured, std::int64_t expected);

    /// Whether launches took much less together than was expected.
    static bool much_less(std::int64_t measured, std::int64_t expected, std::uint32_t launches);
    /// Each may take longer or shorter than was learnt: the mean of its next three measurements replaces the
    /// estimate. Does nothing if all were doubted less than 64 launches for each function ago.
    void doubt_all();
    /// A measurement said nothing about its length: it counts as one of the three.
    void not_refuted(std::uint64_t function);
    bool is_doubted(std::uint64_t function);
    [[nodiscard]] std::size_t doubted() const { return doubted_; }

    /// Whether its last measurements agreed with the estimate, so that further ones can be left out.
    bool is_steady(std::uint64_t function);

    /// Counts launches that are not measured one by one. Returns true every 512 launches, and less and less
    /// often while measurements agree with the estimates: then the next launch should be measured, and
    /// `sampling` counts it.
    bool due_for_sample(std::uint64_t function);
    void sampling(std::uint64_t function);
    /// The number of launches until then, at least one.
    std::uint32_t until_sample(std::uint64_t function);
    void count(std::uint64_t function, std::uint32_t launches);

    static constexpr std::uint32_t kSampleEach = 512;

    /// For a handover.
    struct Function {
        double mean_ns;
        bool rough;
        std::uint32_t since_sample;
        std::uint32_t sample_each = kSampleEach;
        std::uint32_t doubted = 0;  ///< measurements until it isn't
    };
    std::size_t size() const { return known_.size(); }
    std::uint64_t since_doubt() const { return launches_; }
    bool make_room(std::size_t count, std::uint64_t since_doubt);
    bool adopt(std::uint64_t function, const Function& known);
    template <class Visit>  // void(std::uint64_t function, Function&)
    void each(Visit visit) {
        known_.each(visit);
    }

  private:
    static Change note_surprise(Function& known, double measured, double expected);

    Map<Function> known_;
    std::size_t doubted_ = 0;     ///< number of such functions
    std::uint64_t launches_ = 0;  ///< since all were doubted
};

/// The factor for estimates while several streams run at once, because these may share the GPU's width. Which
/// batch gets the time that several shared depends on the order of their ends, so only their sums are
/// meaningful.
class OverlapScale {
  public:
    double scale() const { return scale_; }
    /// A batch took this long.
    struct Sample {
        std::int64_t busy_ns;
        std::int64_t estimate_ns;
        std::int64_t began_ns;
        std::int64_t ended_ns;
    };
    void learn(const Sample& sample);
    /// A batch whose time or estimate says nothing ended then. What ran beside it can't be told, either. If
    /// that continues, the factor returns to 1, because it may be wrong by now.
    void leave_out(std::int64_t ended_ns);

    /// For a handover: visit(field) for each, always in this order; new fields come last.
    template <class Visit>
    void each_field(Visit& visit) {
        visit(scale_);
        visit(busy_ns_);
        visit(estimate_ns_);
        visit(left_out_ns_);
        visit(learnt_ns_);
    }

  private:
    double scale_ = 1;
    std::int64_t busy_ns_ = 0;
    std::int64_t estimate_ns_ = 0;
    std::int64_t left_out_ns_ = 0;  ///< the last time
    std::int64_t learnt_ns_ = 0;    ///< likewise
};

}  // namespace cgpu::module
