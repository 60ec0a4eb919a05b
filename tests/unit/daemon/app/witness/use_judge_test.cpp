#include "daemon/app/witness/use_judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <random>

namespace cgpu::app {
namespace {

using model::kMilli;
using model::kSecond;

constexpr Nanos kRead = kSecond / 2;

/// How the driver's samples are made.
enum class Driver {
    since_last,   ///< the average of the time since the last answer, as documented
    last_second,  ///< of the last second alone
    older,        ///< of a time that ended half a second ago
    beyond,       ///< up to an eighth too much
    noisy,        ///< up to 15 points off, either way
};

/// A process in virtual time, looked at as ComputeWitness does: `uses` and `reports` say how much GPU time it
/// has had, and has reported, until a moment.
class Course {
  public:
    using Total = std::function<double(double seconds)>;

    Course(Driver driver, Total uses, Total reports)
        : driver_(driver), uses_(std::move(uses)), reports_(std::move(reports)) {}

    /// Seconds from its beginning until it was found; empty: it was not, in so many seconds.
    std::optional<double> found_within(double seconds) {
        const Nanos begin = 100 * kSecond;
        UseJudge judge(begin);
        ReportedTime reported;
        Nanos asked = 0;
        std::minstd_rand chance(7);
        for (Nanos now = begin; now < begin + static_cast<Nanos>(seconds * 1e9);) {
            // Timers are late by some milliseconds.
            now += kRead + static_cast<Nanos>(chance() % 20) * kMilli;
            const double at = in_seconds(now - begin);
            judge.reported(now, reported.add(now, {.used = static_cast<Nanos>(reports_(at) * 1e9)}));
            if (now - asked < 2 * kSecond) continue;
            const double last = asked == 0 ? 0 : in_seconds(asked - begin);
            judge.witnessed(now, sample(last, at) + noise(chance));
            asked = now;
            most_ = std::max(most_, judge.unreported());
            if (judge.found()) return at;
        }
        return std::nullopt;
    }
    [[nodiscard]] double most_unreported() const { return most_; }

  private:
    static double in_seconds(Nanos time) { return static_cast<double>(time) / 1e9; }
    [[nodiscard]] double sample(double from, double to) const {
        if (driver_ == Driver::last_second || driver_ == Driver::beyond) from = to - 1;
        if (driver_ == Driver::older) {
            from -= 0.5;
            to -= 0.5;
        }
        const double share = (uses_(to) - uses_(std::max(from, 0.0))) / (to - from);
        return driver_ == Driver::beyond ? share * 8 / 7 : share;
    }

    double noise(std::minstd_rand& chance) const {
        return driver_ == Driver::noisy ? static_cast<double>(chance() % 301) / 1000 - 0.15 : 0;
    }

    Driver driver_;
    Total uses_;
    Total reports_;
    double most_ = 0;
};

constexpr Driver kDrivers[] = {Driver::since_last, Driver::last_second, Driver::older, Driver::beyond,
                               Driver::noisy};

Course::Total steady(double share) {
    return [share](double at) { return share * at; };
}
/// Busy for a part of each period, with a share of the GPU then.
Course::Total bursts(double period, double part, double share) {
    return [=](double at) {
        const double whole = std::floor(at / period);
        return share * (whole * period * part + std::min(at - whole * period, period * part));
    };
}

TEST(UseJudge, AnHonestProcessIsNeverFound) {
    for (const Driver driver : kDrivers) {
        for (const double share : {0.02, 0.1, 0.3, 0.5, 0.75, 1.0}) {
            EXPECT_EQ(Course(driver, steady(share), steady(share)).found_within(1200), std::nullopt)
                << "share " << share;
            // Reported by estimates, which are two points too small.
            EXPECT_EQ(Course(driver, steady(share), steady(std::max(0.0, share - 0.02))).found_within(1200),
                      std::nullopt)
                << "share " << share;
            for (const double period : {0.05, 0.4, 1.0, 2.0, 2.01, 3.7, 10.0, 60.0})
                for (const double part : {0.1, 0.5, 0.9}) {
                    const auto its = bursts(period, part, share);
                    EXPECT_EQ(Course(driver, its, its).found_within(1200), std::nullopt)
                        << "share " << share << " in " << part << " of " << period << " s";
                }
        }
    }
}

TEST(UseJudge, WhatIsReportedLateIsReported) {
    // A kernel's time is reported at its end.
    for (const Driver driver : kDrivers)
        for (const double kernel : {0.02, 0.3, 0.9, 1.4})
            EXPECT_EQ(Course(driver, steady(1), [=](double at) { return std::floor(at / kernel) * kernel; })
                          .found_within(1200),
                      std::nullopt)
                << kernel;
}

TEST(UseJudge, WhoReportsNothingIsFoundWithinSeconds) {
    for (const Driver driver : kDrivers) {
        for (const double share : {0.5, 0.8, 1.0}) {
            const auto found = Course(driver, steady(share), steady(0)).found_within(60);
            ASSERT_TRUE(found) << share;
            EXPECT_GE(*found, 10) << share;
            EXPECT_LE(*found, 20) << share;
        }
        const auto found = Course(driver, steady(0.3), steady(0)).found_within(60);
        ASSERT_TRUE(found);
        EXPECT_LE(*found, 45);
        // A constant, however large, is no report.
        EXPECT_TRUE(Course(driver, steady(0.5), [](double) { return 1e9; }).found_within(20));
        // A jump between two values is one, once.
        EXPECT_TRUE(Course(driver, steady(0.5), [](double at) {
                        return std::fmod(at, 2) < 1 ? 5 : 5e8;
                    }).found_within(25));
        // A third of it is reported.
        EXPECT_TRUE(Course(driver, steady(0.9), steady(0.3)).found_within(25));
    }
}

TEST(UseJudge, LittleIsTolerated) {
    // A program that is measured badly.
    for (const Driver driver : kDrivers)
        EXPECT_FALSE(Course(driver, steady(0.8), steady(0.5)).found_within(1200));
    // Small copies and fills, which aren't metered.
    for (const Driver driver : kDrivers)
        EXPECT_FALSE(Course(driver, steady(0.15), steady(0)).found_within(1200));
}

/// Looks every half second, and asks every two.
struct Bed {
    void run(double seconds, double share, double reported_share, ComputeReport report = {}) {
        for (double at = 0; at < seconds; at += 0.5) {
            now += kRead;
            used += static_cast<Nanos>(reported_share * 0.5e9);
            report.used = used;
            judge.reported(now, reported.add(now, report));
            if (++reads % 4 == 0) judge.witnessed(now, share);
        }
    }
    Nanos now = 50 * kSecond;
    Nanos used = 0;
    int reads = 0;
    UseJudge judge{now};
    ReportedTime reported;
};

TEST(UseJudge, ItsFirstSecondsDontCount) {
    Bed bed;
    bed.run(12, 1, 0);
    EXPECT_FALSE(bed.judge.found());
    bed.run(6, 1, 0);
    EXPECT_TRUE(bed.judge.found());
    EXPECT_NEAR(bed.judge.unreported(), 1, 0.01);
}

TEST(UseJudge, ItIsOverWhenReportsAreRightAgain) {
    Bed bed;
    bed.run(60, 0.8, 0.2);
    ASSERT_TRUE(bed.judge.found());
    EXPECT_NEAR(bed.judge.unreported(), 0.6, 0.01);
    bed.run(6, 0.8, 0.8);
    EXPECT_TRUE(bed.judge.found()) << "not at once, so that it isn't told again and again";
    bed.run(30, 0.8, 0.8);
    EXPECT_FALSE(bed.judge.found());
    EXPECT_EQ(bed.judge.unreported(), 0);
}

TEST(UseJudge, WhatTheDriverDoesntSayAnyMoreIsForgotten) {
    Bed bed;
    bed.run(13, 1, 0);
    for (int i = 0; i < 20; ++i) {
        bed.judge.forget();
        bed.run(8, 1, 0);
        EXPECT_FALSE(bed.judge.found());
    }
    // Answers that are far apart say nothing of the time in between.
    for (int i = 0; i < 20; ++i) {
        bed.now += 20 * kSecond;
        bed.judge.reported(bed.now, 0);
        bed.judge.witnessed(bed.now, 1);
        EXPECT_FALSE(bed.judge.found());
    }
}

TEST(UseJudge, AKernelOfMinutesIsReportedWhileItRuns) {
    for (const Nanos oldest : {Nanos{0}, 51 * kSecond}) {
        Bed bed;
        bed.run(1, 0, 0);
        bed.run(300, 1, 0, {.in_flight = true, .oldest = oldest});
        EXPECT_FALSE(bed.judge.found());
        bed.used += 300 * kSecond;
        bed.run(30, 0, 0);
        EXPECT_FALSE(bed.judge.found());
        // It doesn't hide what comes afterwards.
        bed.run(30, 1, 0);
        EXPECT_TRUE(bed.judge.found());
    }
}

TEST(UseJudge, WorkThatIsNotGatedExplainsItself) {
    Bed bed;
    std::uint32_t transfers = ~0U - 1'000'000;  // the count wraps
    for (int i = 0; i < 600; ++i) bed.run(0.5, 0.6, 0, {.small_transfers = transfers += 90'000});
    EXPECT_FALSE(bed.judge.found());
    // A few don't explain everything.
    for (int i = 0; i < 60; ++i) bed.run(0.5, 0.6, 0, {.small_transfers = transfers += 1000});
    EXPECT_TRUE(bed.judge.found());
}

TEST(UseJudge, ClaimsAreBounded) {
    ReportedTime reported;
    EXPECT_EQ(reported.add(kSecond, {.used = INT64_MAX / 4}), 0);
    Nanos last = 0;
    for (int i = 2; i < 100; ++i) {
        const Nanos used = i % 2 == 0 ? 0 : INT64_MAX / 4;
        const Nanos total =
            reported.add(i * kSecond, {.used = used, .in_flight = true, .oldest = INT64_MAX / 4});
        EXPECT_GE(total, last);
        last = total;
    }
    EXPECT_EQ(last, 0) << "work that begins in the future doesn't run";
}

}  // namespace
}  // namespace cgpu::app
