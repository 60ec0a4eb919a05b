#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/history/record.hpp"
#include "core/model/node.hpp"
#include "daemon/app/ports/history_store.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// Makes the records of what each instance had of each of its GPUs: one for each interval, and one when the
/// instance ends. It is told of changes before the divider of compute, because that forgets the figures of an
/// instance as soon as it is told that it is gone.
///
/// The intervals begin at whole multiples of their length since 1970. Nothing wakes cgpud for them: it looks
/// for the GPUs every few seconds, and calls tick() then. (Intervals that are shorter than that have a
/// timer.)
///
/// An instance that does nothing has no records of single intervals: one record of an hour, or until it does
/// something, says so. One that ends without having used anything has none at all. Of the instances of one
/// user that begin and end within an interval, only so many have records of their own; those of the others
/// are summed up, one for each GPU. So neither idle instances nor any number of short ones push the records
/// of others out of the ring.
///
/// A record has the growth of figures that only grow. They begin at 0 with each cgpud, so nothing is counted
/// twice, and a cgpud that is killed loses what came after its last records.
class History final : public NodeFollower {
  public:
    struct Outside {
        Loop& loop;
        UsageSource& usage;
        HistoryStore& store;
        std::function<std::uint64_t()> wall_clock_us;  ///< since 1970
    };

    /// `interval`: in nanoseconds, at least a second.
    History(const Outside& outside, Nanos interval) : outside_(outside), interval_(interval) {}

    /// The node has changed: makes the last records of instances that are gone.
    void update(const model::Node& node) override;
    /// Makes the records of an interval that is over. Call it at least every kLookEvery.
    void tick();
    /// Makes the records until now: cgpud ends.
    void finish();

    static constexpr Nanos kLookEvery = 10 * kSecond;
    /// Records of a user who isn't root, in an interval, of instances that had only one. All of root's
    /// are kept: they are those of the users of an engine.
    static constexpr int kMostShortOfAUser = 64;
    /// The name of the records that have the sums, and their instance.
    static constexpr const char* kOtherShort = "(short ones)";

  private:
    /// Figures that only grow.
    struct Counts {
        std::uint64_t reported = 0;
        std::uint64_t granted = 0;
        std::uint64_t due = 0;
        std::uint64_t waited = 0;
        std::uint64_t launches = 0;
        std::uint64_t refused = 0;

        /// What is due grows for an idle instance, too.
        [[nodiscard]] bool same_work(const Counts& other) const {
            return reported == other.reported && granted == other.granted && waited == other.waited &&
                   launches == other.launches && refused == other.refused;
        }
    };
    struct Moment {
        std::uint64_t wall_us = 0;
        Nanos at = 0;  ///< monotonic
    };
    /// A part of the time, with the figures at its end.
    struct Reached {
        Moment moment;
        Counts counts;
        std::uint64_t peak = 0;  ///< in the part
    };
    struct Key {
        model::InstanceId instance;
        std::uint64_t generation;  ///< another instance may have the same id later
        model::Uuid gpu;
        // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Account {
        std::string name;
        model::Owner owner;
        bool recorded = false;  ///< it has a record
        std::uint32_t gpu_index = 0;
        std::uint64_t memory_limit = 0;
        bool measured = false;
        Moment begin;
        Counts written;      ///< at `begin`
        Reached idle_until;  ///< until then it did nothing since `begin`

        [[nodiscard]] bool is_idle() const { return idle_until.moment.at > begin.at; }
    };
    using Accounts = std::map<Key, Account>;

    [[nodiscard]] Moment now() const;
    [[nodiscard]] bool interval_is_over(const Moment& moment) const;
    static void update(Account& account, const model::Quota& quota, const model::Node& node);
    void set_timer();
    Account& open(const Key& key, const model::Instance& instance, const Moment& moment);
    void close(const Key& key, Account& account, const Moment& moment, bool ended);
    void write(const Key& key, Account& account, Reached reached, bool ended);
    void sum_up(const history::Record& record);
    /// The sums of an interval that is over.
    void add_sums();
    void flush();

    Outside outside_;
    Nanos interval_;
    Accounts accounts_;
    std::vector<history::Record> made_;                                      ///< and not in the store yet
    std::map<std::uint32_t, int> short_ones_;                                ///< of the interval, by owner
    std::map<std::pair<std::uint32_t, model::Uuid>, history::Record> sums_;  ///< by owner and GPU
    std::uint64_t last_interval_ = 0;  ///< its number since 1970; 0: none was looked at
    int since_sync_ = 0;               ///< intervals
    WatchPtr timer_;
};

}  // namespace cgpu::app
