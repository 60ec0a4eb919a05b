// Whatever the processes of an instance report, the others get what is due to them, or what the driver would
// give them. With CGPU_RANDOM_LIARS=N, N liars under each policy instead of a few, and the worst are printed.
// Of 2000 under each, up to two under a policy were below the bound, by 5 points at most. Why isn't known
// yet.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/core/schedule/schedule_tenants.hpp"
#include "tests/unit/core/schedule/schedule_world.hpp"

namespace cgpu::schedule::sim {
namespace {

using cgpu::model::Policy;
using Random = std::mt19937_64;

Nanos pick(Random& random, std::initializer_list<Nanos> of) { return *(of.begin() + random() % of.size()); }

/// The course of one field: the truth, a constant, two values in turn, anything, or growth at some rate; and
/// perhaps only while the gate is open, or only while it is closed.
class Course {
  public:
    Course(Random& random, bool true_too) : seed_(random()) {
        how_ = static_cast<int>(random() % 6);
        if (!true_too && how_ == 0) how_ = 1;
        when_ = static_cast<int>(random() % 4);
        for (Nanos& value : values_) value = any(random);
        rate_ = static_cast<double>(random() % 300) / 100;
        random_.seed(seed_);
    }
    [[nodiscard]] std::string text() const {
        return std::to_string(how_) + "/" + std::to_string(when_) + " " + std::to_string(values_[0]) + " " +
               std::to_string(values_[1]) + " x" + std::to_string(rate_);
    }
    Nanos at(Nanos now, bool open, Nanos truth) {
        if ((when_ == 1 && open) || (when_ == 2 && !open)) return truth;
        switch (how_) {
            case 0:
                return truth;
            case 1:
                return values_[0];
            case 2:
                return values_[++reads_ % 2];
            case 3:
                return any(random_);
            case 4:
                return static_cast<Nanos>(static_cast<double>(now) * rate_);
            default:
                return static_cast<Nanos>(static_cast<double>(truth) * rate_ / 2);
        }
    }

  private:
    static Nanos any(Random& random) {
        const Nanos unit = pick(random, {1, kMicro, kMilli, kSecond, 3600 * kSecond, Nanos{1} << 50});
        const Nanos value = pick(random, {0, 0, 1, 2, 10, 100, 500});
        return random() % 8 == 0 ? -value * unit : value * unit;
    }
    std::uint64_t seed_;
    int how_ = 0, when_ = 0;
    std::array<Nanos, 2> values_{};
    double rate_ = 1;
    std::size_t reads_ = 0;
    Random random_;
};

/// One process's lies: courses of its fields, which change now and then.
class Lies {
  public:
    explicit Lies(std::uint64_t seed) : random_(seed) { change(0); }
    void tell(Nanos now, bool open, Reading& r) {
        if (now >= until_) change(now);
        if (at(5)) r.used = course(0).at(now, open, r.used);
        if (at(0)) r.in_flight_estimate = course(1).at(now, open, r.in_flight_estimate);
        if (at(0)) r.remaining = course(2).at(now, open, r.remaining);
        if (at(1)) r.wants = course(3).at(now, open, r.wants ? 1 : 0) != 0;
        if (at(2)) r.waited = course(4).at(now, open, r.waited);
        if (at(3)) r.syncing = course(5).at(now, open, r.syncing ? 1 : 0) != 0;
        if (at(3)) r.usual_gap = course(6).at(now, open, r.usual_gap);
        if (at(4)) r.unmeasured = course(7).at(now, open, r.unmeasured ? 1 : 0) != 0;
        if (at(4)) r.stale = course(8).at(now, open, 0) > kSecond;
    }
    [[nodiscard]] std::string text() const {
        std::string out;
        constexpr std::array kNames{"used", "flight", "remaining",  "wants", "waited",
                                    "sync", "gap",    "unmeasured", "stale"};
        constexpr std::array kBits{5, 0, 0, 1, 2, 3, 3, 4, 4};
        for (std::size_t i = 0; i < kNames.size(); ++i)
            if (at(kBits[i])) out += std::string(" ") + kNames[i] + " " + courses_[i].text();
        return out;
    }

  private:
    [[nodiscard]] bool at(int bit) const { return (fields_ >> bit & 1U) != 0; }
    Course& course(std::size_t i) { return courses_[i]; }
    void change(Nanos now) {
        until_ = now + pick(random_, {100 * kMilli, kSecond, 3600 * kSecond, 3600 * kSecond});
        fields_ = random_();
        courses_.clear();
        for (int i = 0; i < 9; ++i) courses_.emplace_back(random_, true);
    }
    Random random_;
    Nanos until_ = 0;
    std::uint64_t fields_ = 0;
    std::vector<Course> courses_;
};

struct Outcome {
    double got = 0;
    double least = 0;
    std::string what;
    [[nodiscard]] double spare() const { return got - least; }
};

/// What is due to the first of the instances with these weights.
double due(Policy policy, const std::vector<int>& weights, int max_inst) {
    int sum = 0;
    for (const int weight : weights) sum += weight;
    switch (policy) {
        case Policy::fair_share:
            return 1.0 / max_inst;
        case Policy::weighted:
            return static_cast<double>(weights[0]) / sum;
        case Policy::fixed:
            return static_cast<double>(weights[0]) / max_inst;
        default:
            return 1.0 / static_cast<double>(weights.size());
    }
}

double driver_gives(const Settings& settings, const Tenant& honest, Tenant liar) {
    Settings native = settings;
    native.policy = Policy::native;
    World world(native);
    liar.lie = nullptr;
    world.add(honest);
    world.add(liar);
    world.run_for(kSecond);
    world.mark();
    world.run_for(2 * kSecond);
    return world.share(0);
}

Outcome beside_a_liar(Policy policy, std::uint64_t seed) {
    Random random(seed);
    Settings settings = under(policy);
    const bool high = random() % 8 == 0;  // the liar is
    const bool honest_high = random() % 8 == 0;
    settings.prio_ratio = honest_high ? 80 : 50;
    World world(settings, random() % 4 == 0 ? kNoisy : kQuiet);
    Tenant honest = floods(pick(random, {50 * kMicro, 200 * kMicro, kMilli, 5 * kMilli}),
                           static_cast<int>(pick(random, {1, 1, 5, 9})));
    honest.high_priority = honest_high && !high;
    Tenant liar = floods(pick(random, {50 * kMicro, kMilli, 20 * kMilli}),
                         static_cast<int>(pick(random, {1, 1, 5, 9})));
    liar.high_priority = high;
    liar.processes = static_cast<int>(pick(random, {1, 1, 1, 3}));
    liar.work.ignores_limit = true;
    liar.work.ignores_window = random() % 4 == 0;
    std::vector<std::shared_ptr<Lies>> lies;
    for (int p = 0; p < liar.processes; ++p) {
        const bool is_honest = p > 0 && random() % 2 == 0;
        lies.push_back(is_honest ? nullptr : std::make_shared<Lies>(random()));
    }
    const std::string first = lies[0]->text();
    liar.lie = [lies](Nanos now, bool open, std::size_t process, Reading& r) {
        if (lies[process]) lies[process]->tell(now, open, r);
    };
    world.add(honest);
    world.add(liar);
    // It rings whenever it likes.
    const auto run = [&](Nanos time) {
        for (const Nanos end = world.now() + time; world.now() < end;) {
            world.run_for(static_cast<Nanos>(random() % 20'000'000) + kMicro);
            world.poke();
        }
    };
    run(kSecond);
    world.mark();
    run(8 * kSecond);
    double part = due(policy, {honest.weight, liar.weight}, settings.max_inst);
    if (high)
        part = (1 - settings.prio_ratio / 100.0) *
               (policy == Policy::fixed || policy == Policy::fair_share ? part : 1);
    if (honest.high_priority) part = settings.prio_ratio / 100.0;
    if (policy == Policy::native) part = 1;
    Outcome out;
    out.got = world.share(0);
    const double driver = driver_gives(settings, honest, liar);
    // Two points for what is lost until it is found out.
    out.least = std::min(part, driver) - 0.02;
    // Work without bound that is launched while its gate is open runs on in the others' turns. The driver
    // divides these.
    if (liar.work.ignores_window) out.least = std::min(out.least, part * driver - 0.02);
    out.what = "seed " + std::to_string(seed) + (high ? " high" : "") +
               (honest.high_priority ? " honest high" : "") + " kernels " +
               std::to_string(honest.work.kernels[0] / kMicro) + " and " +
               std::to_string(liar.work.kernels[0] / kMicro) + " us, weights " +
               std::to_string(honest.weight) + ":" + std::to_string(liar.weight) + " processes " +
               std::to_string(liar.processes) + (liar.work.ignores_window ? " no window" : "") + ":" + first;
    return out;
}

class Liars : public testing::TestWithParam<Policy> {};

TEST_P(Liars, TakeNothingFromOthers) {
    const char* told = std::getenv("CGPU_RANDOM_LIARS");
    const std::uint64_t count = told == nullptr ? 30 : std::strtoull(told, nullptr, 10);
    std::vector<Outcome> all;
    for (std::uint64_t seed = 1; seed <= count; ++seed) all.push_back(beside_a_liar(GetParam(), seed));
    std::ranges::sort(all, {}, &Outcome::spare);
    for (std::size_t i = 0; i < all.size() && told != nullptr && i < 4; ++i)
        std::cout << all[i].spare() * 100 << " points: " << all[i].got << " of " << all[i].least << ", "
                  << all[i].what << '\n';
    for (const Outcome& each : all) EXPECT_GE(each.got, each.least) << each.what;
}

INSTANTIATE_TEST_SUITE_P(Policies, Liars,
                         testing::Values(Policy::fair_share, Policy::preemptive, Policy::weighted,
                                         Policy::fixed, Policy::soft, Policy::native),
                         [](const auto& policy) {
                             std::string name(to_string(policy.param));
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace
}  // namespace cgpu::schedule::sim
