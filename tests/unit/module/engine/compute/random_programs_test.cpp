// Random programs of one to three streams: what is charged is what the GPU did, for nearly all of them. With
// CGPU_RANDOM_PROGRAMS=N, N programs instead of a few, and how far they were off is printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/module/engine/support/fake_front.hpp"

namespace cgpu::module::test {
namespace {

constexpr std::int64_t kRun = 3 * kSecond;
constexpr std::int64_t kChange = kSecond;

class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t most) { return random_() % most; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    /// With an even distribution of its logarithm.
    double between(double least, double most) {
        return std::exp(std::uniform_real_distribution<>(std::log(least), std::log(most))(random_));
    }

  private:
    std::mt19937_64 random_;
};

/// Kernels of 1 µs to some ms, of one function or of many, in a fixed order or in any, with lengths that are
/// constant or vary by a tenth; pauses as long as a kernel, or independent of it; waits after each kernel,
/// after several, or never. After a second, all lengths change by `factor`.
Program random_thread(Generator& random, FakeFront& front, double factor) {
    const auto functions = random.one_in(2) ? 1 : 1 + random.below(20);
    const double base = random.between(1'000, 1'000'000);
    const double spread = random.one_in(2) ? 1 : random.between(1, 30);
    std::vector<double> lengths;
    double sum = 0;
    for (std::uint64_t i = 0; i < functions; ++i) {
        lengths.push_back(base * random.between(1 / spread, spread));
        sum += lengths.back();
    }
    Program program;
    program.stream = 100 + front.programs.size();
    const auto kind = random.below(3);
    const double pause = kind == 0   ? 0
                         : kind == 1 ? random.between(1'000, 2'000'000)
                                     : sum / static_cast<double>(functions) * random.between(0.3, 10);
    program.pause = static_cast<std::int64_t>(std::min(pause, 5'000'000.0));
    program.waits_each = random.one_in(2) ? 0 : random.one_in(2) ? 1 : 1 + random.below(30);
    program.next = [=, &front, any_order = random.one_in(2), varies = random.one_in(2),
                    order = std::mt19937_64(random.below(1'000'000)), number = std::uint64_t{0}]() mutable {
        const auto which = (any_order ? order() : number++) % functions;
        double ns = lengths[which] * (front.now() > kChange ? factor : 1);
        if (varies) ns *= 0.9 + static_cast<double>(order() % 2'001) / 10'000;
        return Kernel{1'000 * program.stream + which, static_cast<std::int64_t>(std::max(500.0, ns))};
    };
    return program;
}

struct Kind {
    const char* name;
    bool changes;   ///< after a second
    bool wide;      ///< kernels of several streams don't slow each other down
    double nearly;  ///< the part of the programs that is charged within a tenth

    friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

double charged_for_program(std::uint64_t seed, const Kind& kind) {
    Generator random(seed);
    const double factor = kind.changes ? random.between(0.1, 10) : 1;
    EngineUnderTest engine;
    Pages pages;
    FakeFront front{engine};
    front.gpu.wide = kind.wide;
    engine.table.bind(engine.engine, &pages.orders, &pages.reports);
    for (auto streams = 1 + random.below(3); streams > 0; --streams)
        front.programs.push_back(random_thread(random, front, factor));
    front.run(kRun);
    front.drain();
    return charged(pages, front);
}

struct Distribution {
    std::vector<double> charges;

    double within(double off) const {
        const auto count =
            std::ranges::count_if(charges, [&](double each) { return std::abs(each - 1) <= off; });
        return static_cast<double>(count) / static_cast<double>(charges.size());
    }
};

class RandomPrograms : public ::testing::TestWithParam<Kind> {};

TEST_P(RandomPrograms, AreChargedWhatTheGpuDid) {
    const char* told = std::getenv("CGPU_RANDOM_PROGRAMS");
    const std::uint64_t count = told == nullptr ? 8 : std::strtoull(told, nullptr, 10);
    Distribution all;
    for (std::uint64_t seed = 1; seed <= count; ++seed)
        all.charges.push_back(charged_for_program(seed, GetParam()));
    const double least = std::ranges::min(all.charges);
    const double most = std::ranges::max(all.charges);
    if (told != nullptr)
        std::cout << "within 2 %: " << all.within(0.02) << ", 5 %: " << all.within(0.05)
                  << ", 10 %: " << all.within(0.1) << "; from " << least << " to " << most << '\n';
    EXPECT_GE(all.within(0.1), GetParam().nearly);
    EXPECT_GT(least, 0.6);
    EXPECT_LT(most, 1.8);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RandomPrograms,
                         ::testing::Values(Kind{"steady", false, false, 0.85},
                                           Kind{"changing", true, false, 0.7},
                                           Kind{"steady_on_a_wide_gpu", false, true, 0.7},
                                           Kind{"changing_on_a_wide_gpu", true, true, 0.7}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace cgpu::module::test
