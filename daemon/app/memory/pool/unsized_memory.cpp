#include "daemon/app/memory/pool/unsized_memory.hpp"

#include <algorithm>

#include "core/wire/limits.hpp"

namespace cgpu::app {
namespace {

/// Memory up to this multiple of its estimate is still explained.
constexpr std::uint64_t kEstimatesAreWithin = 2;

}  // namespace

/// Memory that pools are charged for may have gone back to the card without a message to their process.
UnsizedMemory::Range UnsizedMemory::range_of(std::uint64_t figure, const LeaseReport& report) {
    const auto certain = report.charged - report.pooled;
    return {figure - std::min(figure, report.charged), figure - std::min(figure, certain)};
}

void UnsizedMemory::set_aside(What what, std::uint64_t bytes, std::uint64_t spare, Nanos now) {
    told_of_context_ = told_of_context_ || what == What::context;
    if (pending_ == 0 && coming_ == 0 && bytes > 0)
        measured_ = Measured{what, bytes, known_, 0};
    else if (measured_)
        measured_->beside += bytes > 0 ? bytes : spare;
    pending_ += bytes;
    spare_ = spare;
    pending_since_ = now;
    ++coming_;
    unexplained_.may_grow(kEstimatesAreWithin * bytes + spare);
    recent_.clear();
}

void UnsizedMemory::made() {
    coming_ -= std::min(coming_, 1U);
    forget_figures();
}

void UnsizedMemory::not_made(std::uint64_t bytes) {
    coming_ -= std::min(coming_, 1U);
    pending_ -= std::min(bytes, pending_);
    if (pending_ == 0) spare_ = 0;
    measured_.reset();
    forget_figures();
}

void UnsizedMemory::moved(std::uint64_t gone) {
    unexplained_.should_shrink(gone);
    unexplained_.may_grow(Unexplained::kAnything);
    forget_figures();
}

void UnsizedMemory::context_gone() {
    known_ = pending_ = spare_ = 0;
    coming_ = 0;
    measured_.reset();
    unexplained_.should_shrink(Unexplained::kAnything);
    forget_figures();
}

void UnsizedMemory::connected_again() {
    coming_ = 0;
    moved(0);
}

void UnsizedMemory::take_up(std::uint64_t bytes, Nanos now) {
    told_of_context_ = true;
    // Part of it may only have been set aside: it is an estimate until the driver shows it.
    pending_ = bytes;
    pending_since_ = now;
    // It is not recorded which part of it was announced.
    unexplained_.may_grow(Unexplained::kAnything);
}

/// Earlier figures don't show what has just been announced.
void UnsizedMemory::forget_figures() {
    recent_.clear();
    fresh_ = false;
}

void UnsizedMemory::look_begins(std::uint64_t lease, const LeaseReport& bounded) {
    fresh_ = true;
    lease_before_ = lease;
    before_ = bounded;
}

std::optional<UnsizedMemory::Learnt> UnsizedMemory::figure(std::optional<std::uint64_t> shown,
                                                           const Facts& facts,
                                                           const Unexplained::Settings& settings) {
    figured_ = figured_ || shown.has_value();
    // If the driver never shows this process, its figures mean nothing: what is set aside stays.
    if (!figured_) {
        spare_ = 0;
        return std::nullopt;
    }
    const auto bytes = shown.value_or(0);
    beyond_lease_.push_back(bytes - std::min(bytes, std::max(facts.lease, lease_before_)));
    if (beyond_lease_.size() > kConfirm) beyond_lease_.erase(beyond_lease_.begin());
    const bool reports = facts.report.has_value();
    const auto report = facts.report.value_or(LeaseReport{});
    Unexplained::Look look;
    look.now = facts.now;
    if (reports || facts.lease > 0) look.always = facts.context;
    // Unknown charges, or charges that change during the query, can't be told from the rest: the next query
    // will tell. A process that is stopped in the middle of a change reveals nothing until it resumes.
    const bool settled = fresh_ && report == before_ && report.changing == 0 && (reports || facts.lease == 0);
    if (!settled) {
        // But no charge is larger than the lease.
        look.bytes = beyond_lease_.back();
        judge(look, facts, settings);
        return std::nullopt;
    }
    recent_.push_back(range_of(bytes, report));
    if (recent_.size() > kConfirm) recent_.erase(recent_.begin());
    if (recent_.size() < kConfirm) return std::nullopt;
    const auto learnt = believe();
    look.bytes = std::min_element(recent_.begin(), recent_.end(), by_least)->least;
    look.settled = coming_ == 0;
    judge(look, facts, settings);
    return learnt;
}

/// Accepts the last figures, as far as they agree.
std::optional<UnsizedMemory::Learnt> UnsizedMemory::believe() {
    const auto [lowest, highest] = std::minmax_element(recent_.begin(), recent_.end(), by_least);
    const auto least = lowest->least;
    // Bytes set aside are an estimate, which the smallest certain figure replaces. Known bytes stay.
    const auto most =
        pending_ > 0 ? highest->least : std::max_element(recent_.begin(), recent_.end(), by_most)->most;
    const auto counted = bytes();
    if (coming_ > 0) {
        if (least > counted) known_ += least - counted;
        return std::nullopt;
    }
    known_ = std::clamp(counted, least, most);
    pending_ = spare_ = 0;
    std::optional<Learnt> learnt;
    if (measured_) {
        const auto taken = known_ - std::min(measured_->before, known_);
        // Other things that were made meanwhile can't be told from it. A size far above the expected one is
        // not accepted at once: the estimates of others are learnt from it.
        if (taken > 0 && measured_->beside <= taken / 4)
            learnt = Learnt{measured_->what, measured_->asked,
                            std::min(taken, kEstimatesAreWithin * measured_->asked)};
    }
    measured_.reset();
    return learnt;
}

void UnsizedMemory::judge(Unexplained::Look look, const Facts& facts, const Unexplained::Settings& settings) {
    if (!facts.room) return;
    look.room = *facts.room;
    unexplained_.seen(look, settings);
    // It counts even if the charges never stand still long enough for a figure to be accepted.
    const bool over_limit = unexplained_.bytes() > 0 || facts.others_blamed;
    if (over_limit && look.bytes > bytes()) known_ = look.bytes - pending_;
}

std::uint64_t UnsizedMemory::beyond_lease() const {
    if (beyond_lease_.size() < kConfirm) return 0;
    return *std::min_element(beyond_lease_.begin(), beyond_lease_.end());
}

bool UnsizedMemory::unconfirmed() const {
    if (unexplained_.suspected()) return true;
    // A program that allocates without pause leaves no query undisturbed until it has to wait for one.
    if (pending_ + spare_ > 0 && figured_ && coming_ == 0) return true;
    if (recent_.empty()) return false;
    const Range& last = recent_.back();
    // The size of something that is being made may turn out smaller than what is set aside for it.
    return bytes() < last.least || (coming_ == 0 && bytes() > last.most);
}

}  // namespace cgpu::app
