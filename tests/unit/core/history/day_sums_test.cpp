#include "core/history/day_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "core/history/ring.hpp"
#include "core/history/totals.hpp"
#include "tests/unit/core/history/records.hpp"

namespace cgpu::history {
namespace {

constexpr std::uint64_t kHourUs = 3600 * kSecondUs;

std::uint64_t utc_begin(std::uint64_t us) { return us / kDayUs * kDayUs; }

/// What a store has of them: the last of each number.
class Kept {
  public:
    void write(DaySums& sums) {
        auto changed = sums.take_changed();
        for (auto& sum : changed) {
            if (sum.number == 0) sum.number = ++last_;
            // As the file has it.
            rows_[sum.number] = *decode(encode(sum));
        }
        sums.written(changed);
    }
    [[nodiscard]] std::vector<Record> all() const {
        std::vector<Record> all;
        for (const auto& [number, row] : rows_) all.push_back(row);
        return all;
    }

  private:
    std::map<std::uint64_t, Record> rows_;
    std::uint64_t last_ = 0;
};

/// A node's life: instances of some users and names that begin, work, and end, a record in each interval.
struct Life {
    explicit Life(unsigned seed) : random(seed) {}

    std::uint64_t below(std::uint64_t bound) { return random() % bound; }

    struct Instance {
        std::string id;
        std::string name;
        model::Owner owner;
        std::vector<std::uint8_t> gpus;
        bool told = false;
    };

    std::vector<Record> interval(std::uint64_t begin_us, std::uint64_t length_us) {
        std::vector<Record> made;
        while (living.size() < 6 && below(3) > 0) {
            Instance instance;
            instance.id = "id" + std::to_string(++ids);
            instance.name = "job" + std::to_string(below(4));
            instance.owner.user = 1000 + static_cast<std::uint32_t>(below(3));
            instance.gpus = {static_cast<std::uint8_t>(below(2))};
            if (below(3) == 0) instance.gpus.push_back(static_cast<std::uint8_t>(2 + below(2)));
            living.push_back(instance);
        }
        for (auto& instance : living) {
            const bool ends = below(5) == 0;
            for (const auto gpu : instance.gpus) {
                Record record;
                record.number = ++numbers;
                record.begin_us = begin_us;
                record.duration_us = record.present_us = length_us;
                record.instance = instance.id;
                record.name = instance.name;
                record.owner = instance.owner;
                record.gpu = gpu_of(gpu);
                record.gpu_index = gpu;
                record.reported_ns = below(1000) * kSecondNs;
                record.granted_ns = below(1000) * kSecondNs;
                record.memory_granted = below(1'000'000);
                record.memory_used = below(1'000'000);
                record.launches = below(100);
                record.measured = true;
                record.ended = ends;
                record.instances.began = instance.told ? 0 : 1;
                record.on_first_gpu = gpu == instance.gpus.front() ? record.instances : InstanceCount();
                made.push_back(record);
            }
            instance.told = true;
            if (ends) instance.id.clear();
        }
        std::erase_if(living, [](const auto& instance) { return instance.id.empty(); });
        return made;
    }

    std::mt19937_64 random;
    std::vector<Instance> living;
    std::uint64_t ids = 0;
    std::uint64_t numbers = 0;
};

void expect_same(const std::vector<Total>& rows, const std::vector<Total>& others, const std::string& where) {
    ASSERT_EQ(rows.size(), others.size()) << where;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& other = *std::ranges::find_if(others, [&](const Total& each) {
            return each.keys == rows[i].keys && each.owner == rows[i].owner;
        });
        EXPECT_EQ(rows[i].starts, other.starts) << where;
        EXPECT_EQ(rows[i].instances, other.instances) << where;
        EXPECT_EQ(rows[i].gpu_ns, other.gpu_ns) << where;
        EXPECT_EQ(rows[i].launches, other.launches) << where;
        EXPECT_NEAR(rows[i].memory_granted, other.memory_granted, 1e-9) << where;
        EXPECT_NEAR(rows[i].memory_used, other.memory_used, 1e-9) << where;
    }
}

// Whatever the ring has lost, and however often cgpud was started: sums and records together are the same as
// all records would be.
TEST(DaySums, WithThemNothingIsLostOrCountedTwice) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        Life life(seed);
        Kept kept;
        std::vector<Record> all;
        std::optional<DaySums> sums(utc_begin);
        for (std::uint64_t hour = 1; hour < 120; ++hour) {
            const auto made = life.interval(hour * kHourUs, kHourUs);
            all.insert(all.end(), made.begin(), made.end());
            sums->add(made);
            kept.write(*sums);
            if (life.below(20) == 0) {
                sums.emplace(utc_begin);
                sums->take_up(kept.all(), all);
                EXPECT_TRUE(sums->take_changed().empty());
            }
        }
        for (const std::size_t lost : {std::size_t{0}, all.size() / 3, all.size() - 1}) {
            const std::vector<Record> left(all.begin() + static_cast<std::ptrdiff_t>(lost), all.end());
            const auto joint = joined(left, kept.all());
            const Span whole{0, 200 * kHourUs};
            for (const auto& by : {Dimensions{By::name}, Dimensions{By::user}, Dimensions{By::gpu},
                                   Dimensions{By::user, By::name}, Dimensions{By::day, By::user, By::gpu}})
                expect_same(totals(all, whole, by, utc_day), totals(joint, whole, by, utc_day),
                            "seed " + std::to_string(seed) + ", lost " + std::to_string(lost));
            // Whole days are whole in the sums, too.
            const Span two{2 * kDayUs, 4 * kDayUs};
            for (const auto& by : {Dimensions{By::user}, Dimensions{By::day, By::gpu}}) {
                const auto one = totals(all, two, by, utc_day);
                const auto other = totals(joint, two, by, utc_day);
                ASSERT_EQ(one.size(), other.size());
                for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].starts, other[i].starts);
            }
        }
    }
}

// Records that were never written, because the disk was full, weren't billed, although the sums had them.
TEST(DaySums, TheyReplaceRecordsThatAreMissingAmongOthers) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Life life(seed);
        Kept kept;
        std::vector<Record> all;
        DaySums sums(utc_begin);
        for (std::uint64_t hour = 1; hour < 100; ++hour) {
            const auto made = life.interval(hour * kHourUs, kHourUs);
            all.insert(all.end(), made.begin(), made.end());
            sums.add(made);
        }
        kept.write(sums);
        const auto whole_as = [&](std::uint64_t from, std::uint64_t to) {
            auto left = all;
            std::erase_if(left,
                          [&](const Record& each) { return each.begin_us >= from && each.begin_us < to; });
            return joined(left, kept.all());
        };
        const Span whole{0, 200 * kHourUs};
        for (const std::uint64_t hour : {30U, 47U, 60U}) {
            const auto joint = whole_as(hour * kHourUs, (hour + 3) * kHourUs);
            for (const auto& by : {Dimensions{By::name}, Dimensions{By::day, By::user, By::gpu}})
                expect_same(totals(all, whole, by, utc_day), totals(joint, whole, by, utc_day),
                            "seed " + std::to_string(seed) + ", hour " + std::to_string(hour));
            const auto of_last_day = [](const Record& each) { return each.begin_us >= 4 * kDayUs; };
            EXPECT_EQ(std::ranges::count_if(joint, of_last_day), std::ranges::count_if(all, of_last_day))
                << "of the other days the records stay";
        }
        EXPECT_EQ(joined(all, kept.all()).size(), all.size()) << "nothing is missing";
    }
}

// A flood of names, of one owner and of many, has few rows; and each owner is billed for what is the owner's.
TEST(DaySums, ADayHasABoundedNumberOfThem) {
    DaySums sums(utc_begin);
    Kept kept;
    std::map<model::Owner, std::uint64_t> due;
    std::uint64_t number = 0;
    const auto add = [&](std::uint32_t user, const std::string& name, std::uint8_t gpu) {
        auto record = minute(kDayUs / kSecondUs + ++number, name, 1);
        record.number = number;
        record.owner.user = user;
        record.gpu = gpu_of(gpu);
        record.instance = "id" + std::to_string(number);
        record.ended = true;
        record.instances.began = record.on_first_gpu.began = 1;
        due[record.owner] += record.gpu_ns();
        sums.add(std::vector{record});
        kept.write(sums);
    };
    for (int i = 0; i < 2000; ++i) add(1000, "flood" + std::to_string(i), static_cast<std::uint8_t>(i % 16));
    for (std::uint32_t user = 2000; user < 2012; ++user)
        for (std::uint8_t gpu = 0; gpu < 4; ++gpu) add(user, "honest", gpu);
    const auto rows = kept.all();
    EXPECT_LE(rows.size(), DaySums::kMostRows);
    std::map<model::Owner, std::uint64_t> billed;
    std::uint64_t honest = 0;
    for (const auto& row : rows) {
        billed[row.owner] += row.gpu_ns();
        honest += row.name == "honest" ? 1U : 0U;
    }
    EXPECT_EQ(billed, due);
    EXPECT_EQ(honest, 48U) << "a flood takes no row of others";
    const auto by_user = totals(rows, {0, 10 * kDayUs}, {By::user}, utc_day);
    EXPECT_EQ(by_user.front().starts, 2000U);
    // So many users that not even each has one.
    for (std::uint32_t user = 3000; user < 4000; ++user) add(user, "one", 0);
    EXPECT_LE(kept.all().size(), DaySums::kMostRows);
    std::uint64_t sum = 0;
    for (const auto& row : kept.all()) sum += row.gpu_ns();
    std::uint64_t all = 0;
    for (const auto& [owner, ns] : due) all += ns;
    EXPECT_EQ(sum, all);
}

TEST(DaySums, AreMadeOfTheRecordsWhereThereWereNone) {
    Life life(7);
    std::vector<Record> all;
    for (std::uint64_t hour = 1; hour < 60; ++hour) {
        const auto made = life.interval(hour * kHourUs, kHourUs);
        all.insert(all.end(), made.begin(), made.end());
    }
    DaySums sums(utc_begin);
    Kept kept;
    sums.take_up({}, all);
    kept.write(sums);
    const Span whole{0, 100 * kHourUs};
    expect_same(totals(all, whole, {By::day, By::user}, utc_day),
                totals(kept.all(), whole, {By::day, By::user}, utc_day), "made of records");
}

TEST(DaySums, TheTimeInWhichThereWasAnyIsNotThatBetween) {
    DaySums sums(utc_begin);
    Kept kept;
    std::vector<Record> records;
    for (const std::uint64_t begin : {0U, 0U, 600U, 6000U}) {
        records.push_back(minute(begin, "web", 30));
        records.back().number = records.size();
        records.back().instance = "id" + std::to_string(records.size());
    }
    sums.add(records);
    kept.write(sums);
    ASSERT_EQ(kept.all().size(), 1U);
    EXPECT_EQ(kept.all()[0].present_us, 180 * kSecondUs);
    const auto rows = totals(kept.all(), {0, kDayUs}, {By::name}, utc_day);
    EXPECT_EQ(rows[0].covered_us, 180 * kSecondUs);
    EXPECT_DOUBLE_EQ(*rows[0].share_got(), 120.0 / 180);
}

}  // namespace
}  // namespace cgpu::history
