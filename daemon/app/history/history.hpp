#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/history/day_sums.hpp"
#include "core/history/recent.hpp"
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
/// An instance that does nothing has no records of single intervals: one says so, which is prolonged, in its
/// place in the store, until the instance does something, for an hour at most, and never over midnight. Of
/// the instances of one user that begin and end within an interval, only so many have records of their own;
/// those of the others are summed up, one for each GPU. Those that used nothing are summed up by their names.
/// So neither idle instances nor any number of short ones push the records of others out of the ring.
///
/// Each record is also in the sums of its day (history::DaySums), which are kept for much longer.
///
/// A record has the growth of figures that only grow. They begin at 0 with each cgpud, so nothing is counted
/// twice, and a cgpud that is killed loses what came after the last interval.
class History final : public NodeFollower {
  public:
    struct Outside {
        Loop& loop;
        UsageSource& usage;
        HistoryStore& store;
        HistoryStore& days;
        std::function<std::uint64_t()> wall_clock_us;  ///< since 1970
        history::DayBegin day_begin;
        Nanos half_life = std::int64_t{24} * 3600 * kSecond;  ///< of recent()
    };

    /// `interval`: in nanoseconds, at least a second.
    /// Goes on with the sums of the last day that the stores have found.
    History(const Outside& outside, Nanos interval);

    /// The node has changed: makes the last records of instances that are gone.
    void update(const model::Node& node) override;
    /// A request for an instance was refused. `name`: what it would have been called.
    void refused(std::string_view name, const model::Owner& owner);
    /// Makes the records of an interval that is over. Call it at least every kLookEvery.
    void tick();
    /// Makes the records until now: cgpud ends.
    void finish();

    /// What owners had lately, by the records that were found and made.
    [[nodiscard]] const std::map<model::Owner, double>& recent() const { return recent_.by_owner(); }

    static constexpr Nanos kLookEvery = 10 * kSecond;
    /// Records of a user who isn't root, in an interval, of instances that had only one, and of names that
    /// were refused. All of root's are kept: they are those of the users of an engine.
    static constexpr int kMostShortOfAUser = 64;
    /// Names that were refused in an interval, of all.
    static constexpr std::size_t kMostRefused = 1024;
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
        std::uint64_t memory_granted = 0;
        std::uint64_t memory_used = 0;

        /// What is due grows, and what it holds over the time, for an idle instance, too.
        [[nodiscard]] bool same_work(const Counts& other) const {
            return reported == other.reported && granted == other.granted && waited == other.waited &&
                   launches == other.launches && refused == other.refused;
        }
    };
    struct Moment {
        std::uint64_t wall_us = 0;
        Nanos at = 0;  ///< monotonic
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
        std::uint64_t memory_limit = 0;
        Nanos limited_since = 0;           ///< by this much
        std::uint64_t memory_granted = 0;  ///< until then; MiB x ms
        bool on_first_gpu = false;
        bool began = false;  ///< while this cgpud runs, and no record has said so
        bool measured = false;
        Moment begin;                         ///< of what has no record yet
        Counts written;                       ///< then
        std::optional<history::Record> last;  ///< the last record
        bool idle = false;                    ///< it is of a time without work
    };
    /// A record to be written, perhaps in the place of the one that it prolongs, and what is new in it.
    struct Made {
        history::Record record;
        history::Record added;
        Account* account = nullptr;  ///< null: it is gone, or there is none
    };
    using Accounts = std::map<Key, Account>;

    [[nodiscard]] Moment now() const;
    [[nodiscard]] bool interval_is_over(const Moment& moment) const;
    static void update(Account& account, const model::Quota& quota, Nanos now);
    void set_timer();
    Account& open(const Key& key, const model::Instance& instance, const Moment& moment);
    void close(const Key& key, Account& account, const Moment& moment, bool ended);
    void make(const Key& key, Account& account, history::Record added, bool idle);
    /// Whether the account's last record goes on with it.
    [[nodiscard]] bool goes_on(const Account& account, const history::Record& added) const;
    void make(history::Record record);
    void sum_up(const history::Record& record, const std::string& name);
    void add_refused(const Moment& moment);
    /// The sums of an interval that is over.
    void add_sums();
    void flush();
    void write_sums();

    Outside outside_;
    Nanos interval_;
    model::Instances seen_;                         ///< those of the last update
    std::map<model::Uuid, std::uint32_t> indexes_;  ///< of the GPUs
    Accounts accounts_;
    std::vector<Made> made_;                  ///< and not in the store yet
    std::map<model::Owner, int> short_ones_;  ///< of the interval
    std::map<model::Owner, int> unused_;      ///< names of those that used nothing, of the interval
    std::map<std::tuple<model::Owner, std::string, model::Uuid>, history::Record> sums_;
    std::map<std::pair<model::Owner, std::string>, std::uint32_t> refused_;  ///< of the interval
    history::DaySums day_sums_;
    history::Recent recent_;
    bool told_ = false;                ///< of a node
    std::uint64_t last_interval_ = 0;  ///< its number since 1970; 0: none was looked at
    int since_sync_ = 0;               ///< intervals
    WatchPtr timer_;
};

}  // namespace cgpu::app
