#include "daemon/app/witness/use_judge.hpp"

#include <algorithm>

namespace cgpu::app {
namespace {

double seconds(Nanos time) { return static_cast<double>(time) / static_cast<double>(model::kSecond); }

/// Over how long unreported() is averaged.
constexpr double kAveraged = 10;
/// What a fill or a copy of less than 64 KiB takes of a GPU, with room.
constexpr Nanos kSmallTransfer = 4 * model::kMicro;
/// A day: more than any kernel takes, and sums of it stay in range.
constexpr Nanos kMostGrowth = Nanos{24} * 3600 * model::kSecond;

}  // namespace

void UseJudge::reported(Nanos now, Nanos total) {
    points_.push_back({now, total});
    // The last one before the time in question is still needed.
    const Nanos from = now - kLongest - 2 * kWindow;
    while (points_.size() > 2 && points_[1].at <= from) points_.pop_front();
}

double UseJudge::most_reported_since(Nanos from) const {
    double most = 0;
    std::size_t begin = 0;
    for (std::size_t end = 1; end < points_.size(); ++end) {
        // The shortest time up to this point that is no shorter than the window.
        while (begin + 1 < end && points_[end].at - points_[begin + 1].at >= kWindow) ++begin;
        const Nanos length = points_[end].at - points_[begin].at;
        if (length < kWindow || points_[end].at <= from) continue;
        most = std::max(most, static_cast<double>(points_[end].total - points_[begin].total) /
                                  static_cast<double>(length));
    }
    return most;
}

void UseJudge::witnessed(Nanos now, double share) {
    const Nanos last = witnessed_at_;
    witnessed_at_ = now;
    const Nanos length = now - last;
    if (in_grace(now)) return;
    if (last == 0 || length <= 0 || length > kLongest) return;
    const double reported = most_reported_since(last - kWindow);
    const double excess = std::clamp(share, 0.0, 1.0) - reported;
    const double tolerance = kTolerance + kToleranceOfReports * reported;
    const double before = sum_;
    sum_ = std::clamp(sum_ + (excess - tolerance) * seconds(length), 0.0, kMost);
    if (sum_ <= 0) {
        found_ = false;
        excess_ = 0;
        return;
    }
    if (before <= 0) since_ = last;
    const double weight = std::min(1.0, seconds(length) / std::min(kAveraged, seconds(now - since_)));
    excess_ += (std::max(excess, 0.0) - excess_) * weight;
    found_ = found_ || (sum_ >= kMuch && now - since_ >= kPatience);
}

void UseJudge::forget() {
    points_.clear();
    witnessed_at_ = 0;
    sum_ = excess_ = 0;
    found_ = false;
}

Nanos ReportedTime::add(Nanos now, const ComputeReport& report) {
    if (at_ != 0) {
        const Nanos grown = std::max<Nanos>(report.used - used_, 0);
        // Where it isn't known when the work began: it ran between two looks that saw some.
        const Nanos began = report.oldest > 0 ? report.oldest : in_flight_ ? at_ : now;
        const Nanos running = report.in_flight ? now - std::clamp(began, at_, now) : 0;
        const Nanos small = Nanos{report.small_transfers - small_transfers_} * kSmallTransfer;
        total_ += std::min(std::max(grown, running), kMostGrowth) + std::min(small, now - at_);
    }
    at_ = now;
    used_ = std::max(used_, report.used);
    in_flight_ = report.in_flight;
    small_transfers_ = report.small_transfers;
    return total_;
}

}  // namespace cgpu::app
