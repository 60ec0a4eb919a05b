#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "core/model/nanos.hpp"

namespace cgpu::bus {

/// How much may wait.
struct QueueLimit {
    std::size_t items = 0;
    std::size_t bytes = 0;
};
struct QueueLimits {
    QueueLimit of_root{4096, 16 << 20};
    /// Of each other user. The bus itself allows a connection 128 calls without an answer.
    QueueLimit of_user{128, 1 << 20};
    /// Of all users but root, beyond three items of each.
    QueueLimit of_others{1024, 4 << 20};
};

/// What waits for its turn, by user: the items of a user in the order of their arrival, the users one after
/// the other. Root has every second turn, if it has something waiting, however many other users have, and
/// others can't use up its room. A user other than root who has many items waiting has turns for a quarter of
/// the time at most, so that somebody who comes seldom rarely finds another one's item under way.
template <class Item>
class FairQueue {
  public:
    explicit FairQueue(QueueLimits limits = {}) : limits_(limits) {}

    /// `bytes`: what the item keeps. False: too much waits already; the item is unchanged then.
    [[nodiscard]] bool add(uid_t user, std::size_t bytes, Item&& item) {
        const auto known = users_.find(user);
        const Amount own = known == users_.end() ? Amount() : known->second.amount;
        if (!has_room(user == kRoot ? limits_.of_root : limits_.of_user, own, bytes)) return false;
        // Many users with much waiting don't keep out those with little.
        if (user != kRoot && own.items >= kMany && !has_room(limits_.of_others, others_, bytes)) return false;
        auto& its = users_[user];
        if (its.waiting.empty() && user != kRoot) turns_.push_back(user);
        its.waiting.push_back({bytes, std::move(item)});
        its.amount.add(bytes);
        if (user != kRoot) others_.add(bytes);
        return true;
    }

    /// The item whose turn it is at `now`, which ends the turn of the one before. Empty: nothing waits, or
    /// only users who pause.
    [[nodiscard]] std::optional<Item> next(model::Nanos now) {
        end_turn(now);
        const bool root_waits = users_.contains(kRoot);
        const auto other =
            std::find_if(turns_.begin(), turns_.end(), [&](uid_t user) { return !pauses(user, now); });
        if (!root_waits && other == turns_.end()) return std::nullopt;
        root_was_last_ = root_waits && (other == turns_.end() || !root_was_last_);
        if (root_was_last_) return take(kRoot).second;
        const uid_t user = *other;
        turns_.erase(other);
        const bool has_many = users_.at(user).amount.items >= kMany;
        auto taken = take(user);
        others_.remove(taken.first);
        if (users_.contains(user)) turns_.push_back(user);
        if (has_many) turn_of_busy_ = {user, now};
        return std::move(taken.second);
    }

    [[nodiscard]] bool empty() const { return users_.empty(); }
    /// Whether next() would give one.
    [[nodiscard]] bool has_next(model::Nanos now) const {
        return users_.contains(kRoot) ||
               std::any_of(turns_.begin(), turns_.end(), [&](uid_t user) { return !pauses(user, now); });
    }

  private:
    static constexpr uid_t kRoot = 0;
    /// A user who waits for each answer before the next call never has so many.
    static constexpr std::size_t kMany = 4;
    static constexpr model::Nanos kPausePerTurn = 3;  ///< times as long as the turn was
    static constexpr model::Nanos kLongestPause = 1'000'000'000;

    struct Amount {
        std::size_t items = 0;
        std::size_t bytes = 0;
        void add(std::size_t more) {
            ++items;
            bytes += more;
        }
        void remove(std::size_t less) {
            --items;
            bytes -= less;
        }
    };
    using Waiting = std::pair<std::size_t, Item>;  ///< bytes, item
    struct User {
        std::deque<Waiting> waiting;
        Amount amount;
    };

    static bool has_room(const QueueLimit& limit, const Amount& amount, std::size_t more) {
        return amount.items < limit.items && amount.bytes + more <= limit.bytes;
    }
    Waiting take(uid_t user) {
        const auto its = users_.find(user);
        Waiting taken = std::move(its->second.waiting.front());
        its->second.waiting.pop_front();
        its->second.amount.remove(taken.first);
        if (its->second.waiting.empty()) users_.erase(its);
        return taken;
    }

    [[nodiscard]] bool pauses(uid_t user, model::Nanos now) const {
        const auto until = pauses_.find(user);
        return until != pauses_.end() && now < until->second;
    }
    void end_turn(model::Nanos now) {
        std::erase_if(pauses_, [now](const auto& each) { return each.second <= now; });
        if (turn_of_busy_)
            pauses_[turn_of_busy_->first] =
                now + std::min(kLongestPause, kPausePerTurn * (now - turn_of_busy_->second));
        turn_of_busy_.reset();
    }

    QueueLimits limits_;
    std::map<uid_t, User> users_;  ///< who has something waiting
    std::deque<uid_t> turns_;      ///< those of them that aren't root, the next one first
    Amount others_;                ///< of all users but root
    bool root_was_last_ = false;
    std::map<uid_t, model::Nanos> pauses_;                        ///< until when
    std::optional<std::pair<uid_t, model::Nanos>> turn_of_busy_;  ///< under way: whose, and since when
};

}  // namespace cgpu::bus
