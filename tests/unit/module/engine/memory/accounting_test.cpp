#include "module/engine/memory/accounting.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "tests/unit/module/engine/support/engine_fixture.hpp"

namespace cgpu::module::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kGranule = wire::kGranule;

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

/// A driver that returns addresses as NVIDIA's does: large allocations on granules of their own, small ones
/// side by side within a granule.
class Driver {
  public:
    std::uint64_t allocate(std::uint64_t bytes) {
        if (bytes >= kGranule) return std::exchange(next_, next_ + rounded(bytes));
        if (small_ + bytes > small_end_) {
            small_ = std::exchange(next_, next_ + kGranule);
            small_end_ = next_;
        }
        return std::exchange(small_, small_ + (bytes + 511) / 512 * 512);
    }

  private:
    std::uint64_t next_ = 0x7f0000000000;
    std::uint64_t small_ = 0;
    std::uint64_t small_end_ = 0;
};

/// The holdings, recorded in the simplest way.
struct Model {
    std::map<std::uint64_t, std::uint64_t> addresses;
    std::map<std::pair<Holding, std::uint64_t>, std::uint64_t> others;

    std::uint64_t charged() const {
        std::set<std::uint64_t> granules;
        for (const auto& [address, bytes] : addresses) {
            for (std::uint64_t at = address / kGranule; at <= (address + bytes - 1) / kGranule; ++at)
                granules.insert(at);
        }
        std::uint64_t sum = granules.size() * kGranule;
        std::uint64_t small_arrays = 0;
        for (const auto& [key, bytes] : others) {
            const bool small_array = key.first == Holding::array && bytes < kGranule;
            (small_array ? small_arrays : sum) += small_array ? bytes : rounded(bytes);
        }
        return sum + rounded(small_arrays);
    }
};

RC_GTEST_PROP(Accounting, ChargesWhatTheDriverTakesAndNoMoreThanLeased, ()) {
    Accounting books(host());
    Pages pages;
    books.bind(&pages.orders, &pages.reports);
    std::uint64_t leased = *rc::gen::inRange<std::uint64_t>(0, 40) * kGranule;
    books.lease(0, leased);
    Driver driver;
    Model model;
    const auto steps = *rc::gen::inRange(1, 200);
    for (int i = 0; i < steps; ++i) {
        switch (*rc::gen::inRange(0, 8)) {
            case 0:
            case 1:
            case 2:
            case 3: {  // allocate; the driver may refuse
                const auto bytes = *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(1, kMiB),
                                                   rc::gen::inRange<std::uint64_t>(kMiB, 20 * kMiB));
                const auto kind = *rc::gen::element(Holding::address, Holding::array, Holding::physical);
                const std::uint64_t lack = books.reserve(0, bytes);
                RC_ASSERT(lack == (model.charged() + rounded(bytes) > leased
                                       ? model.charged() + rounded(bytes) - leased
                                       : 0));
                if (lack != 0) break;
                if (*rc::gen::inRange(0, 4) == 0) {
                    books.cancel(0, bytes);
                    break;
                }
                const std::uint64_t key = driver.allocate(bytes);
                books.commit(0, kind, key, bytes, bytes);
                if (kind == Holding::address) {
                    model.addresses[key] = bytes;
                } else {
                    model.others[{kind, key}] = bytes;
                }
                break;
            }
            case 4: {  // free an address
                if (model.addresses.empty()) break;
                const auto at =
                    std::next(model.addresses.begin(),
                              *rc::gen::inRange<long>(0, static_cast<long>(model.addresses.size())));
                RC_ASSERT(books.release(Holding::address, at->first));
                RC_ASSERT(!books.release(Holding::address, at->first));
                model.addresses.erase(at);
                break;
            }
            case 5: {  // free another
                if (model.others.empty()) break;
                const auto at = std::next(model.others.begin(),
                                          *rc::gen::inRange<long>(0, static_cast<long>(model.others.size())));
                RC_ASSERT(books.release(at->first.first, at->first.second));
                model.others.erase(at);
                break;
            }
            case 6: {  // give back, but nothing that is in use
                const std::uint64_t given = books.spare(0, *rc::gen::inRange<std::uint64_t>(0, 20 * kMiB), 0);
                RC_ASSERT(given % kGranule == 0u);
                RC_ASSERT(given <= leased - model.charged());
                leased -= given;
                break;
            }
            case 7:
                books.lease(0, kGranule);
                leased += kGranule;
                break;
        }
        RC_ASSERT(books.charged(0) == model.charged());
        RC_ASSERT(books.charged(0) <= leased);
        RC_ASSERT(books.leased(0) == leased);
        RC_ASSERT(pages.reports.gpus[0].charged_bytes == model.charged());
    }
    for (const auto& [address, bytes] : model.addresses) books.release(Holding::address, address);
    for (const auto& [key, bytes] : model.others) books.release(key.first, key.second);
    RC_ASSERT(books.charged(0) == 0u);
}

TEST(AccountingReport, SaysWhenChargesAndTheDriversFigureCanDiffer) {
    Pages pages;
    Accounting books{host()};
    books.bind(&pages.orders, &pages.reports);
    books.lease(0, 100 * kMiB);
    const auto changing = [&] { return pages.reports.changing.load(); };
    const auto changes = [&] { return pages.reports.changes.load(); };
    ASSERT_EQ(books.reserve(0, kMiB), 0u);
    EXPECT_EQ(changing(), 1u);
    ASSERT_EQ(books.reserve(0, kMiB), 0u);
    EXPECT_EQ(changing(), 2u);
    books.commit(0, Holding::address, 0x7f0000000000, kMiB, kMiB);
    books.cancel(0, kMiB);
    EXPECT_EQ(changing(), 0u);
    EXPECT_EQ(changes(), 2u);
    books.freeing(true);
    EXPECT_EQ(changing(), 1u);
    EXPECT_EQ(changes(), 3u);
    // A new page has it from the start.
    Pages next;
    books.bind(&next.orders, &next.reports);
    EXPECT_EQ(next.reports.changing, 1u);
    books.freeing(false);
    EXPECT_EQ(next.reports.changing, 0u);
    EXPECT_EQ(next.reports.changes, 3u);
}

TEST(AccountingReport, TellsPoolsApart) {
    Pages pages;
    Accounting books{host()};
    books.bind(&pages.orders, &pages.reports);
    books.lease(0, 100 * kMiB);
    books.commit(0, Holding::array, 1, 6 * kMiB, 0);
    EXPECT_EQ(books.resize(0, Holding::pool, 2, 20 * kMiB, 0), 0u);
    EXPECT_EQ(pages.reports.gpus[0].charged_bytes, 26 * kMiB);
    EXPECT_EQ(pages.reports.gpus[0].pooled_bytes, 20 * kMiB);
    books.resize(0, Holding::pool, 2, 8 * kMiB, 0);
    EXPECT_EQ(pages.reports.gpus[0].pooled_bytes, 8 * kMiB);
    books.release(Holding::pool, 2);
    EXPECT_EQ(pages.reports.gpus[0].pooled_bytes, 0u);
    EXPECT_EQ(pages.reports.gpus[0].charged_bytes, 6 * kMiB);
}

class AccountingTest : public ::testing::Test {
  protected:
    Pages pages;
    Accounting books{host()};
    void SetUp() override {
        allocations_left = INT64_MAX;
        books.bind(&pages.orders, &pages.reports);
    }
    void TearDown() override { allocations_left = INT64_MAX; }
};

TEST_F(AccountingTest, SaysHowMuchTheLeaseLacks) {
    books.lease(0, 4 * kMiB);
    EXPECT_EQ(books.reserve(0, 3 * kMiB), 0u);
    EXPECT_EQ(books.reserve(0, 5 * kMiB), 6 * kMiB);
    books.cancel(0, 3 * kMiB);
    EXPECT_EQ(books.reserve(0, 5 * kMiB), 2 * kMiB);
}

TEST_F(AccountingTest, AnAllocationBeyondAnyCardIsRefusedAndWrapsNowhere) {
    books.lease(0, 4 * kMiB);
    EXPECT_GT(books.reserve(0, UINT64_MAX), 0u);
    EXPECT_GT(books.reserve(0, UINT64_MAX - 5), 0u);
    EXPECT_EQ(books.reserve(0, 4 * kMiB), 0u);
}

TEST_F(AccountingTest, WithoutIsolationNothingIsRefusedButAllIsCounted) {
    pages.orders.gpus[0].isolate_memory = 0;
    EXPECT_EQ(books.reserve(0, 64 * kMiB), 0u);
    books.commit(0, Holding::array, 5, 64 * kMiB, 64 * kMiB);
    EXPECT_EQ(books.charged(0), 64 * kMiB);
    EXPECT_EQ(pages.reports.gpus[0].charged_bytes, 64 * kMiB);
}

TEST_F(AccountingTest, AKeyHeldTwiceIsFreedOldestFirst) {
    books.lease(0, 64 * kMiB);
    books.commit(0, Holding::array, 5, 2 * kMiB, 0);
    books.commit(0, Holding::array, 5, 8 * kMiB, 0);
    EXPECT_EQ(books.charged(0), 10 * kMiB);
    EXPECT_TRUE(books.release(Holding::array, 5));
    EXPECT_EQ(books.charged(0), 8 * kMiB);
    EXPECT_TRUE(books.release(Holding::array, 5));
    EXPECT_EQ(books.charged(0), 0u);
    EXPECT_FALSE(books.release(Holding::array, 5));
}

TEST_F(AccountingTest, OfAKeyHeldTwiceTheEarlierIsLeftWhenTheLatersContextGoes) {
    books.lease(0, 64 * kMiB);
    books.commit(0, Holding::array, 5, 2 * kMiB, 0);
    books.commit(0, Holding::array, 5, 8 * kMiB, 0);
    books.note_context(Holding::array, 5, 77);
    books.release_context(77);
    EXPECT_EQ(books.charged(0), 2 * kMiB);
    Held held{};
    ASSERT_TRUE(books.find(Holding::array, 5, held));
    EXPECT_EQ(held.bytes, 2 * kMiB);
    EXPECT_TRUE(books.release(Holding::array, 5));
    EXPECT_EQ(books.charged(0), 0u);
}

TEST_F(AccountingTest, SmallArraysShareGranules) {
    books.lease(0, 64 * kMiB);
    for (std::uint64_t key = 1; key <= 64; ++key) {
        ASSERT_EQ(books.reserve(0, 64 << 10), 0u);
        books.commit(0, Holding::array, key, 64 << 10, 64 << 10);
    }
    EXPECT_EQ(books.charged(0), 4 * kMiB);
    for (std::uint64_t key = 1; key <= 32; ++key) EXPECT_TRUE(books.release(Holding::array, key));
    EXPECT_EQ(books.charged(0), 2 * kMiB);
    for (std::uint64_t key = 33; key <= 64; ++key) EXPECT_TRUE(books.release(Holding::array, key));
    EXPECT_EQ(books.charged(0), 0u);
}

TEST_F(AccountingTest, AContextTakesItsHoldingsWithIt) {
    books.lease(0, 64 * kMiB);
    for (std::uint64_t key = 1; key <= 10; ++key) {
        books.commit(0, Holding::address, key * 0x10000000, 3 * kMiB, 0);
        books.note_context(Holding::address, key * 0x10000000, key % 2 == 0 ? 77 : 88);
    }
    EXPECT_EQ(books.charged(0), 40 * kMiB);
    books.release_context(77);
    EXPECT_EQ(books.charged(0), 20 * kMiB);
    Held held{};
    EXPECT_FALSE(books.find(Holding::address, 0x20000000, held));
    EXPECT_TRUE(books.find(Holding::address, 0x30000000, held));
    EXPECT_EQ(held.bytes, 3 * kMiB);
}

TEST_F(AccountingTest, GpusHaveTheirOwnAccounts) {
    books.lease(3, 2 * kMiB);
    EXPECT_GT(books.reserve(0, 1), 0u);
    EXPECT_EQ(books.reserve(3, 1), 0u);
    EXPECT_GT(books.reserve(wire::kMaxGpus, 1), 0u);
}

TEST_F(AccountingTest, WithoutMemoryForTheBooksNothingIsReservedAndNothingLost) {
    books.lease(0, 1024 * kMiB);
    std::uint64_t key = 1;
    for (; key <= 200; ++key) {
        allocations_left = key == 100 ? 0 : allocations_left.load();
        if (books.reserve(0, kGranule) != 0) break;
        books.commit(0, Holding::physical, key, kGranule, kGranule);
    }
    ASSERT_LE(key, 200u);
    EXPECT_EQ(books.charged(0), (key - 1) * kGranule);
    for (std::uint64_t held = 1; held < key; ++held) EXPECT_TRUE(books.release(Holding::physical, held));
    EXPECT_EQ(books.charged(0), 0u);
}

}  // namespace
}  // namespace cgpu::module::test
