#include "daemon/config/limits/limit_keys.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/model/duration.hpp"
#include "core/model/gpu.hpp"
#include "core/model/instance.hpp"
#include "core/model/owner.hpp"
#include "core/model/size.hpp"
#include "core/model/utf8.hpp"

namespace cgpu::config {
namespace {

using limits::Rule;

constexpr std::string_view kUnlimited = "unlimited";
/// A number of the file: more than a node can have.
constexpr std::uint32_t kMostCount = 100'000;
constexpr std::size_t kLongestName = 256;

/// A slice of a GPU that has as many as there may be.
constexpr std::uint32_t kLeastCompute = 100 / model::kMaxMaxInst;

Taken take_number(std::optional<std::uint32_t>& into, std::string_view text, std::uint32_t low,
                  std::uint32_t high, std::uint32_t unlimited) {
    if (text == kUnlimited) {
        into = unlimited;
        return {};
    }
    return read_number(text, low, high).map([&](auto value) { into = value; });
}

Taken take_count(std::optional<std::uint32_t>& into, std::string_view text) {
    return take_number(into, text, 0, kMostCount, limits::kUnlimited);
}

Taken take_size(std::optional<model::Bytes>& into, std::string_view text) {
    if (text == kUnlimited) {
        into = limits::kUnlimitedMemory;
        return {};
    }
    return read_size(text).map([&](auto size) { into = size; });
}

Taken take_compute(Rule& rule, std::string_view text) {
    const bool is_number = text != kUnlimited;
    auto taken = take_number(rule.compute, is_number ? without_percent(text) : text, 1, 100, 100);
    if (taken && *rule.compute < kLeastCompute)
        return tl::unexpected(
            std::string("it is less than one slice of every GPU, so it would allow nothing"));
    return taken;
}

Taken take_flag(bool& into, std::string_view text) {
    if (text != "true" && text != "false") return tl::unexpected(std::string("it is neither true nor false"));
    into = text == "true";
    return {};
}

Taken take_priority(Rule& rule, std::string_view text) {
    bool may = false;
    return take_flag(may, text).map([&] { rule.priority = may; });
}

std::string show_count(const std::optional<std::uint32_t>& count) {
    if (!count) return {};
    return *count == limits::kUnlimited ? std::string(kUnlimited) : std::to_string(*count);
}

std::string show_size(const std::optional<model::Bytes>& size) {
    if (!size) return {};
    return *size == limits::kUnlimitedMemory ? std::string(kUnlimited) : model::format_size(*size);
}

Taken take_bound(std::optional<std::uint64_t>& into, std::string_view text) {
    if (text == kUnlimited) {
        into = limits::kUnlimitedTime;
        return {};
    }
    return model::parse_duration(text).map([&](auto seconds) { into = seconds; });
}

std::string show_bound(const std::optional<std::uint64_t>& seconds) {
    if (!seconds) return {};
    return *seconds == limits::kUnlimitedTime ? std::string(kUnlimited) : model::exact_duration(*seconds);
}

struct LimitKey {
    std::string_view name;
    std::string_view allowed;
    Taken (*take)(Rule& rule, std::string_view text);
    std::string (*show)(const Rule& rule);  ///< empty: it isn't set
};

constexpr std::string_view kCountAllowed = "a whole number, or unlimited";
constexpr std::string_view kDurationAllowed = "a duration such as 24h, or unlimited";
constexpr std::string_view kSizeAllowed = "a size such as 8GiB, or unlimited";

const std::array kLimitKeys = {
    LimitKey{"instances", kCountAllowed,
             [](Rule& rule, auto text) { return take_count(rule.instances, text); },
             [](const Rule& rule) { return show_count(rule.instances); }},
    LimitKey{"gpus", kCountAllowed, [](Rule& rule, auto text) { return take_count(rule.gpus, text); },
             [](const Rule& rule) { return show_count(rule.gpus); }},
    LimitKey{"memory", kSizeAllowed, [](Rule& rule, auto text) { return take_size(rule.memory, text); },
             [](const Rule& rule) { return show_size(rule.memory); }},
    LimitKey{"memory_per_gpu", kSizeAllowed,
             [](Rule& rule, auto text) { return take_size(rule.memory_per_gpu, text); },
             [](const Rule& rule) { return show_size(rule.memory_per_gpu); }},
    LimitKey{
        "compute", "4% to 100%, or unlimited", take_compute,
        [](const Rule& rule) { return rule.compute ? std::to_string(*rule.compute) + "%" : std::string(); }},
    LimitKey{"priority", "true or false", take_priority,
             [](const Rule& rule) {
                 return rule.priority ? std::string(*rule.priority ? "true" : "false") : std::string();
             }},
    LimitKey{"time", kDurationAllowed, [](Rule& rule, auto text) { return take_bound(rule.time, text); },
             [](const Rule& rule) { return show_bound(rule.time); }},
    LimitKey{"idle", kDurationAllowed, [](Rule& rule, auto text) { return take_bound(rule.idle, text); },
             [](const Rule& rule) { return show_bound(rule.idle); }},
};

std::string limit_names() {
    std::string list;
    for (const LimitKey& key : kLimitKeys) list.append(list.empty() ? "" : ", ").append(key.name);
    return list;
}

/// Why a number is no id of a user or group; empty: it is one, or no number. The last one stands for none.
std::optional<std::string> bad_id(std::string_view name) {
    const bool is_signed = name.size() > 1 && (name.front() == '-' || name.front() == '+');
    const std::string_view digits = is_signed ? name.substr(1) : name;
    if (!std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
    if (is_signed || !read_number(digits, 0, model::kNobody - 1)) return "it is no user or group id";
    return std::nullopt;
}

/// Why no user or group can have the name.
std::optional<std::string> bad_name(const std::string& name) {
    if (name.empty() || name.size() > kLongestName || model::valid_utf8(name) != name ||
        name.front() == ' ' || name.back() == ' ' ||
        std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == ':'; }))
        return "no user or group has such a name";
    return bad_id(name);
}

constexpr const char* kNameAllowed = "a name that getent passwd or getent group shows";

tl::unexpected<BadValue> no_such_key() {
    return bad("there is no such key",
               "use one of users, groups, default, containers and trust_declared_owners");
}

tl::expected<void, BadValue> take_part(Rule& rule, const std::string& name, std::string_view value) {
    const auto* const key = std::ranges::find(kLimitKeys, name, &LimitKey::name);
    if (key == kLimitKeys.end()) return bad("there is no such limit", "use one of " + limit_names());
    if (const auto taken = key->take(rule, value); !taken)
        return bad(taken.error(), "use " + std::string(key->allowed));
    return {};
}

void show(std::vector<ShownValue>& all, const Rule& rule, std::vector<std::string> path) {
    path.emplace_back();
    for (const LimitKey& key : kLimitKeys) {
        path.back() = key.name;
        if (auto value = key.show(rule); !value.empty()) all.push_back({path, std::move(value)});
    }
}

}  // namespace

tl::expected<void, BadValue> take_limit(limits::Rules& rules, const std::vector<std::string>& path,
                                        std::string_view value) {
    const std::string part = path.size() > 1 ? path[1] : "";
    if (part == "trust_declared_owners" && path.size() == 2) {
        if (const auto taken = take_flag(rules.trust_declared_owners, value); !taken)
            return bad(taken.error(), "use true or false");
        return {};
    }
    const bool of_one = part == "users" || part == "groups";
    if (of_one && path.size() == 4) {
        if (const auto why = bad_name(path[2])) return bad(*why, kNameAllowed);
        return take_part((part == "users" ? rules.users : rules.groups)[path[2]], path[3], value);
    }
    if ((part == "default" || part == "containers") && path.size() == 3)
        return take_part(part == "default" ? rules.others : rules.containers, path[2], value);
    if (of_one) return bad("limits are given by " + part, "below it a name, and below that " + limit_names());
    if (part == "default" || part == "containers")
        return bad("it has keys below it", "below it " + limit_names());
    return no_such_key();
}

tl::expected<void, BadValue> take_limits_group(const std::vector<std::string>& path) {
    const bool of_one = path[1] == "users" || path[1] == "groups";
    if (!of_one && path[1] != "default" && path[1] != "containers") return no_such_key();
    if (path.size() == 2) return {};
    if (!of_one) return bad("it has no value", "give it one, or remove the line");
    if (const auto why = bad_name(path[2])) return bad(*why, kNameAllowed);
    return {};
}

std::vector<ShownValue> show_limits(const limits::Rules& rules) {
    std::vector<ShownValue> all;
    if (rules.trust_declared_owners) all.push_back({{"limits", "trust_declared_owners"}, "true"});
    for (const auto& [name, rule] : rules.users) show(all, rule, {"limits", "users", name});
    for (const auto& [name, rule] : rules.groups) show(all, rule, {"limits", "groups", name});
    show(all, rules.others, {"limits", "default"});
    show(all, rules.containers, {"limits", "containers"});
    return all;
}

}  // namespace cgpu::config
