#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/limits/allowance.hpp"
#include "core/view/limits.hpp"
#include "daemon/app/limits/people.hpp"

namespace cgpu::app {

/// What the configuration lets owners have. A rule for a user or a group needs the name service, which is
/// asked before a request is judged: prepare() first, then allowance().
class OwnerLimits {
  public:
    /// How long an answer of the name service counts.
    static constexpr Nanos kKept = 60 * kSecond;
    /// How long after a change of the rules an answer is waited for.
    static constexpr Nanos kPatience = 10 * kSecond;
    /// How many answers are kept: more than owners may wait (AdmissionQueue::kMost). The oldest one goes.
    static constexpr std::size_t kMostKept = 4096;

    OwnerLimits(Loop& loop, People& people) : loop_(loop), people_(people) {}

    void set_rules(limits::Rules rules);
    [[nodiscard]] const limits::Rules& rules() const { return rules_; }

    /// Finds out what the rules need to know of the owner, and calls back: at once, or when the name service
    /// has answered. Refused: it doesn't answer, so nobody knows which rules hold.
    void prepare(const model::Owner& owner, std::function<void(const Result<void>&)> done);
    /// What the owner may still get; empty: no rule concerns it. Refused: try_again, the rules are new, and
    /// the name service hasn't answered yet; unsupported, it can't say.
    [[nodiscard]] Result<std::optional<limits::Allowance>> allowance(const model::Node& node,
                                                                     const model::Owner& owner) const;

    /// Whether the user has this name, as far as it is known.
    [[nodiscard]] bool is_called(std::uint32_t user, const std::string& name) const {
        const auto* known = find(user, 2 * kKept);
        return known != nullptr && known->person.name == name;
    }
    /// The limits of a user, by a word for it: a user id, a name, or `containers` for those of root's engine
    /// that nobody owns. Refused: not_found.
    void describe(const std::string& word, std::function<const model::Node&()> node,
                  std::function<void(const Result<view::Limits>&)> done);

  private:
    struct Known {
        Person person;
        Nanos at;
    };
    using Answer = Result<Known>;

    void find_out(const PersonWord& who, std::function<void(const Result<void>&)> done);
    /// Empty: the rules need to know nothing of it.
    [[nodiscard]] std::optional<PersonWord> needed(const model::Owner& owner) const;
    [[nodiscard]] const Known* find(const PersonWord& who, Nanos most_age) const;
    void keep(const PersonWord& who, Answer answer);

    Loop& loop_;
    People& people_;
    limits::Rules rules_;
    Nanos rules_since_ = 0;
    std::map<PersonWord, Answer> answers_;
};

}  // namespace cgpu::app
