#include "daemon/app/limits/owner_limits.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "core/model/quote.hpp"
#include "daemon/app/limits/limits_view.hpp"

namespace cgpu::app {
namespace {

using Kind = limits::Holder::Kind;

constexpr std::size_t kLongestUserName = 256;
const limits::Holder kRoot{Kind::user, 0, "root", {}};

limits::Holder holder_of(const Person& person, const model::Owner& owner) {
    // Nobody becomes root, who has no limits, by declaring it.
    if (!owner.user && person.user == 0U) return {};
    if (person.user) return {Kind::user, *person.user, person.name, person.groups};
    return {Kind::declared, 0, owner.declared, {}};
}

}  // namespace

void OwnerLimits::set_rules(limits::Rules rules) {
    rules_ = std::move(rules);
    rules_since_ = loop_.now();
    answers_.clear();
}

std::optional<PersonWord> OwnerLimits::needed(const model::Owner& owner) const {
    if (owner.user == 0U) return std::nullopt;
    if (owner.user) {
        // Without rules for users and groups by their names, the id says all.
        const bool by_name = !rules_.users.empty() || !rules_.groups.empty() || rules_.trust_declared_owners;
        return by_name ? std::optional<PersonWord>(*owner.user) : std::nullopt;
    }
    if (!owner.declared.empty() && rules_.trust_declared_owners) return PersonWord(owner.declared);
    return std::nullopt;
}

const OwnerLimits::Known* OwnerLimits::find(const PersonWord& who, Nanos most_age) const {
    const auto found = answers_.find(who);
    if (found == answers_.end() || !found->second || loop_.now() - found->second->at > most_age)
        return nullptr;
    return &*found->second;
}

void OwnerLimits::keep(const PersonWord& who, Answer answer) {
    if (answers_.size() >= kMostKept && !answers_.contains(who))
        answers_.erase(std::ranges::min_element(
            answers_, {}, [](const auto& each) { return each.second ? each.second->at : 0; }));
    answers_.insert_or_assign(who, std::move(answer));
}

void OwnerLimits::prepare(const model::Owner& owner, std::function<void(const Result<void>&)> done) {
    const auto who = rules_.empty() ? std::nullopt : needed(owner);
    if (!who) return done({});
    find_out(*who, std::move(done));
}

void OwnerLimits::find_out(const PersonWord& who, std::function<void(const Result<void>&)> done) {
    if (find(who, kKept) != nullptr) return done({});
    people_.look_up(who, [this, who, done = std::move(done)](const Result<Person>& person) {
        if (person) keep(who, Known{*person, loop_.now()});
        // What was known a moment ago counts for a while longer.
        else if (find(who, 2 * kKept) == nullptr)
            keep(who, tl::unexpected(person.error()));
        done(person ? Result<void>() : tl::unexpected(person.error()));
    });
}

void OwnerLimits::describe(const std::string& word, std::function<const model::Node&()> node,
                           std::function<void(const Result<view::Limits>&)> done) {
    if (word == "containers") return done(view_of(node(), {node(), rules_, {}}));
    std::uint32_t id = 0;
    const char* const last = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data(), last, id);
    const bool is_id = error == std::errc{} && end == last && id != model::kNobody;
    if (!is_id && !word.empty() && word.find_first_not_of("0123456789") == std::string::npos)
        return done(model::refuse(model::Refusal::Reason::not_found, "user " + model::quote(word),
                                  "no user has such an id", "name one that getent passwd shows"));
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
    if (!is_id && (word.empty() || word.size() > kLongestUserName || std::ranges::any_of(word, is_control)))
        return done(model::refuse(model::Refusal::Reason::invalid, "user " + model::quote(word),
                                  "no user has such a name", "name a user, or use containers"));
    if (word == "0" || word == "root") return done(view_of(node(), {node(), rules_, kRoot}));
    const auto who = is_id ? PersonWord(id) : PersonWord(word);
    find_out(who, [this, who, word, node = std::move(node),
                   done = std::move(done)](const Result<void>& asked) {
        if (!asked) return done(tl::unexpected(asked.error()));
        const auto* known = find(who, 2 * kKept);
        if (known == nullptr || (!known->person.user && !rules_.trust_declared_owners))
            return done(model::refuse(model::Refusal::Reason::not_found, "user " + model::quote(word),
                                      "the system knows no such user", "name one that getent passwd shows"));
        done(view_of(node(), {node(), rules_, holder_of(known->person, {std::nullopt, word})}));
    });
}

Result<std::optional<limits::Allowance>> OwnerLimits::allowance(const model::Node& node,
                                                                const model::Owner& owner) const {
    if (rules_.empty()) return std::nullopt;
    limits::Holder holder;
    if (const auto who = needed(owner)) {
        // A call that waits for a second look at the GPUs is judged once more.
        const auto* known = find(*who, 2 * kKept);
        if (known == nullptr) {
            const auto answer = answers_.find(*who);
            if (answer != answers_.end() && !answer->second) return tl::unexpected(answer->second.error());
            return loop_.now() - rules_since_ < kPatience
                       ? model::refuse(model::Refusal::Reason::try_again, model::describe(owner),
                                       "the limits have just changed", "try the same again")
                       : model::refuse(
                             model::Refusal::Reason::unsupported, model::describe(owner),
                             "the name service hasn't answered yet, so nobody knows which limits hold",
                             "try the same again");
        }
        // A group database that can't be read looks as one without the group, and the group may have a rule.
        if (!rules_.groups.empty())
            for (const auto& group : known->person.groups)
                if (group.name.empty())
                    return model::refuse(
                        model::Refusal::Reason::unsupported, model::describe(owner),
                        "the name service has no name for its group " + std::to_string(group.id) +
                            ", so nobody knows which limits hold",
                        "getent group " + std::to_string(group.id) + ", which asks the same name service");
        holder = holder_of(known->person, owner);
    } else if (owner.user) {
        holder = *owner.user == 0 ? kRoot : limits::Holder{Kind::user, *owner.user, {}, {}};
    }
    limits::Allowance allowance(node, rules_, std::move(holder));
    if (allowance.rules().empty()) return std::nullopt;
    return allowance;
}

}  // namespace cgpu::app
