#include "module/engine/compute/lengths/functions.hpp"

#include <algorithm>
#include <cmath>

namespace cgpu::module {
namespace {

constexpr double kGain = 0.25;
constexpr double kLargestStep = 4;
constexpr double kSurprise = 0.25;
constexpr std::uint32_t kSampleEachAtMost = 8192;
constexpr std::uint32_t kSteady = 4 * Functions::kSampleEach;  // two measurements that agreed
constexpr std::uint64_t kDoubtEach = 64;  // launches for each function, so that few of them are samples
constexpr std::uint32_t kDoubtSamples = 3;
constexpr double kEventStep = 1000;  // ns; what the lengths of the shortest kernels vary by
constexpr double kShortest =
    200;  // ns; events are no finer, and an estimate of 0 would fill a batch with no end

}  // namespace

std::int64_t Functions::estimate(std::uint64_t function) {
    const Function* known = known_.find(function);
    return known == nullptr ? 0 : static_cast<std::int64_t>(known->mean_ns);
}

Functions::Change Functions::learn(std::uint64_t function, std::int64_t ns) {
    const double sample = std::max(static_cast<double>(ns), kShortest);
    Function* known = known_.insert(function, {sample, false, 0});
    if (known == nullptr) return Change::none;
    if (known->rough) {
        *known = {sample, false, 0};
        return Change::none;
    }
    const Change change = note_surprise(*known, sample, known->mean_ns);
    known->since_sample = 0;
    if (known->doubted > 0) {
        known->mean_ns += (sample - known->mean_ns) / (kDoubtSamples + 1 - known->doubted);
        if (--known->doubted == 0) --doubted_;
        return change;
    }
    const double within = std::clamp(sample, known->mean_ns / kLargestStep, known->mean_ns * kLargestStep);
    known->mean_ns = std::max(kShortest, known->mean_ns + kGain * (within - known->mean_ns));
    return change;
}

void Functions::learn_roughly(std::uint64_t function, std::int64_t ns, bool sinks) {
    const double sample = std::max(static_cast<double>(ns), kShortest);
    Function* known = known_.insert(function, {sample, true, 0});
    if (known == nullptr || sample >= known->mean_ns) return;
    if (known->rough)
        known->mean_ns = sample;
    else if (sinks)
        known->mean_ns += kGain * (sample - known->mean_ns);
}

void Functions::correct(std::uint64_t function, std::int64_t measured, std::int64_t expected) {
    Function* known = known_.find(function);
    if (known == nullptr || expected <= 0) return;
    const double ratio = std::clamp(static_cast<double>(measured) / static_cast<double>(expected), 0.5, 2.0);
    if (std::abs(ratio - 1) > kSurprise) known->sample_each = kSampleEach;
    known->mean_ns = std::max(kShortest, known->mean_ns * (1 + kGain * (ratio - 1)));
}

bool Functions::much_less(std::int64_t measured, std::int64_t expected, std::uint32_t launches) {
    const double less = static_cast<double>(expected - measured);
    return less > std::max(kSurprise * static_cast<double>(expected), kEventStep / 2 * launches);
}

void Functions::doubt_all() {
    if (launches_ < kDoubtEach * known_.size()) return;
    launches_ = 0;
    doubted_ = 0;
    known_.each([this](std::uint64_t, Function& known) {
        known.doubted = known.rough ? 0 : kDoubtSamples;
        if (!known.rough) ++doubted_;
    });
}

void Functions::not_refuted(std::uint64_t function) {
    Function* known = known_.find(function);
    if (known != nullptr && known->doubted > 0 && --known->doubted == 0) --doubted_;
}

bool Functions::is_doubted(std::uint64_t function) {
    const Function* known = doubted_ == 0 ? nullptr : known_.find(function);
    return known != nullptr && known->doubted > 0;
}

bool Functions::is_steady(std::uint64_t function) {
    const Function* known = known_.find(function);
    return known != nullptr && !known->rough && known->doubted == 0 && known->sample_each >= kSteady;
}

Functions::Change Functions::note_surprise(Function& known, double measured, double expected) {
    const bool expected_it = std::abs(measured - expected) <= std::max(kSurprise * expected, kEventStep);
    known.sample_each = expected_it ? std::min(known.sample_each * 2, kSampleEachAtMost) : kSampleEach;
    if (expected_it) return Change::none;
    return measured > expected ? Change::longer : Change::shorter;
}

bool Functions::due_for_sample(std::uint64_t function) {
    const Function* known = known_.find(function);
    return known != nullptr && known->since_sample >= known->sample_each;
}

void Functions::sampling(std::uint64_t function) {
    if (Function* known = known_.find(function)) known->since_sample = 0;
}

std::uint32_t Functions::until_sample(std::uint64_t function) {
    const Function* known = known_.find(function);
    if (known == nullptr) return 1;
    // A sample is due and was not taken, because the batches consist of this function alone.
    if (known->since_sample >= known->sample_each) return kSampleEach;
    return known->sample_each - known->since_sample;
}

void Functions::count(std::uint64_t function, std::uint32_t launches) {
    launches_ += launches;
    if (Function* known = known_.find(function)) known->since_sample += launches;
}

bool Functions::make_room(std::size_t count, std::uint64_t since_doubt) {
    launches_ = since_doubt;
    return known_.make_room(count);
}

bool Functions::adopt(std::uint64_t function, const Function& known) {
    const std::size_t before = known_.size();
    if (known_.insert(function, known) == nullptr) return false;
    if (known.doubted > 0) doubted_ += known_.size() - before;
    return true;
}

void OverlapScale::leave_out(std::int64_t ended_ns) {
    constexpr double kForget = 100'000'000;  // ns
    busy_ns_ = estimate_ns_ = 0;
    const std::int64_t since = std::max(left_out_ns_, learnt_ns_);
    if (ended_ns <= since) return;
    scale_ += (1 - scale_) * std::min(1.0, static_cast<double>(ended_ns - since) / kForget);
    left_out_ns_ = ended_ns;
}

void OverlapScale::learn(const Sample& sample) {
    constexpr std::int64_t kEnough = 2'000'000;
    constexpr double kFarthest = 16;
    if (sample.began_ns < left_out_ns_) return;
    busy_ns_ += sample.busy_ns;
    estimate_ns_ += sample.estimate_ns;
    if (estimate_ns_ < kEnough) return;
    const double ratio = static_cast<double>(busy_ns_) / static_cast<double>(estimate_ns_);
    scale_ = std::clamp(scale_ * (1 + 0.5 * (std::clamp(ratio, 0.5, 2.0) - 1)), 1 / kFarthest, kFarthest);
    busy_ns_ = estimate_ns_ = 0;
    learnt_ns_ = sample.ended_ns;
}

}  // namespace cgpu::module
