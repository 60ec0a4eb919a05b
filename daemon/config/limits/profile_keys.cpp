#include "daemon/config/limits/profile_keys.hpp"

#include <algorithm>
#include <array>

#include "core/model/duration.hpp"
#include "core/model/gpu.hpp"
#include "core/model/instance.hpp"

namespace cgpu::config {
namespace {

using request::ProfileValues;

struct ProfileKey {
    std::string_view name;
    std::string_view allowed;
    Taken (*take)(ProfileValues& values, std::string_view text);
    std::string (*show)(const ProfileValues& values);  ///< empty: it isn't set
};

std::string show_number(const std::optional<std::uint32_t>& number, const char* unit = "") {
    return number ? std::to_string(*number) + unit : std::string();
}

Taken take_memory(ProfileValues& values, std::string_view text) {
    const auto size = read_size(text);
    if (!size) return tl::unexpected(size.error());
    if (size->count() == 0) return tl::unexpected(std::string("it is no memory"));
    values.memory = *size;
    return {};
}

Taken take_compute(ProfileValues& values, std::string_view text) {
    return read_number(without_percent(text), 1, 100).map([&](auto number) { values.percent = number; });
}

Taken take_weight(ProfileValues& values, std::string_view text) {
    return read_number(text, 1, model::kMaxMaxInst).map([&](auto number) { values.weight = number; });
}

Taken take_gpus(ProfileValues& values, std::string_view text) {
    return read_number(text, 1, model::kMaxGpusPerInstance).map([&](auto number) { values.gpus = number; });
}

Taken take_length(std::optional<std::uint64_t>& into, std::string_view text) {
    return model::parse_duration(text).map([&](auto seconds) { into = seconds; });
}

std::string show_length(const std::optional<std::uint64_t>& seconds) {
    return seconds ? model::exact_duration(*seconds) : std::string();
}

Taken take_priority(ProfileValues& values, std::string_view text) {
    if (text != "high" && text != "normal")
        return tl::unexpected(std::string("it is neither high nor normal"));
    values.high_priority = text == "high";
    return {};
}

const std::array kKeys = {
    ProfileKey{"mem", "a size such as 4GiB", take_memory,
               [](const ProfileValues& values) {
                   return values.memory ? model::format_size(*values.memory) : std::string();
               }},
    ProfileKey{"compute", "1% to 100%", take_compute,
               [](const ProfileValues& values) { return show_number(values.percent, "%"); }},
    ProfileKey{"weight", "a whole number from 1 to 25", take_weight,
               [](const ProfileValues& values) { return show_number(values.weight); }},
    ProfileKey{"gpus", "how many, from 1 to 16", take_gpus,
               [](const ProfileValues& values) { return show_number(values.gpus); }},
    ProfileKey{"time", "a duration such as 8h",
               [](ProfileValues& values, std::string_view text) { return take_length(values.time, text); },
               [](const ProfileValues& values) { return show_length(values.time); }},
    ProfileKey{"idle", "a duration such as 30m",
               [](ProfileValues& values, std::string_view text) { return take_length(values.idle, text); },
               [](const ProfileValues& values) { return show_length(values.idle); }},
    ProfileKey{"priority", "high or normal", take_priority,
               [](const ProfileValues& values) {
                   return values.high_priority ? std::string(*values.high_priority ? "high" : "normal")
                                               : std::string();
               }},
};

constexpr const char* kNames = "mem, compute, weight, gpus, time, idle, priority";

void show(std::vector<ShownValue>& all, const ProfileValues& values, std::vector<std::string> path) {
    path.emplace_back();
    for (const ProfileKey& key : kKeys) {
        path.back() = key.name;
        if (auto value = key.show(values); !value.empty()) all.push_back({path, std::move(value)});
    }
}

}  // namespace

tl::expected<void, BadValue> take_profile(request::Profiles& profiles, const std::vector<std::string>& path,
                                          std::string_view value) {
    const bool of_max = path.size() == 4 && path[2] == "max";
    if (!of_max && path.size() != 3)
        return bad("values are given by profile", "profiles, below it a name, and below that " +
                                                      std::string(kNames) + ", or max with these below it");
    if (!request::is_profile_name(path[1]))
        return bad("no profile can have this name", "1 to 64 letters, digits, - and _");
    const auto* const key = std::ranges::find(kKeys, path.back(), &ProfileKey::name);
    if (key == kKeys.end())
        return bad("a profile has no such value", "use one of " + std::string(kNames) + ", or max");
    auto& profile = profiles[path[1]];
    auto& values = of_max ? profile.max : profile.values;
    const auto before = values;
    if (const auto taken = key->take(values, value); !taken)
        return bad(taken.error(), "use " + std::string(key->allowed));
    if (!values.percent || !values.weight) return {};
    values = before;
    return bad("the profile has weight and compute, which set the same thing", "use one of them");
}

std::vector<ShownValue> show_profiles(const request::Profiles& profiles) {
    std::vector<ShownValue> all;
    for (const auto& [name, profile] : profiles) {
        show(all, profile.values, {"profiles", name});
        show(all, profile.max, {"profiles", name, "max"});
    }
    return all;
}

}  // namespace cgpu::config
