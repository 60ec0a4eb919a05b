// Whether the name service answers cgpud, and knows whom the limits name.
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kCheck = "name service";
constexpr const char* kEffect =
    "requests of users are refused, because nobody knows which limits hold for them";
constexpr std::string_view kUsers = "limits.users.";
constexpr std::string_view kGroups = "limits.groups.";

bool is_number(const std::string& text) { return text.find_first_not_of("0123456789") == std::string::npos; }

enum class Known { yes, no, failed };

/// As getpwnam(3) has it of what it returns, and of errno.
Known known(const void* found) {
    if (found != nullptr) return Known::yes;
    return errno == 0 || errno == ENOENT || errno == ESRCH ? Known::no : Known::failed;
}

/// A user id needs no name for a rule to hold.
Known knows_user(const std::string& name) {
    if (is_number(name)) return Known::yes;
    errno = 0;
    return known(getpwnam(name.c_str()));
}

Known knows_group(const std::string& name) {
    gid_t id = 0;
    const char* const last = name.data() + name.size();
    errno = 0;
    if (is_number(name) && std::from_chars(name.data(), last, id).ptr == last) return known(getgrgid(id));
    return known(getgrnam(name.c_str()));
}

/// Names of the rules of one kind, and where each stands first. Names may have dots, limits don't.
std::map<std::string, std::string> names_of(const Look& look, std::string_view prefix) {
    std::map<std::string, std::string> names;
    for (const client::ConfigurationValue& value : look.configuration) {
        if (!value.key.starts_with(prefix)) continue;
        const auto end = value.key.rfind('.');
        if (end > prefix.size())
            names.emplace(value.key.substr(prefix.size(), end - prefix.size()), value.source);
    }
    return names;
}

bool is_in_force(const Look& look, std::string_view key, std::string_view value) {
    return std::ranges::any_of(look.configuration, [&](const client::ConfigurationValue& each) {
        return each.key == key && each.value == value;
    });
}

void judge(Known known, const char* kind, const std::string& name, const std::string& source, Findings& all) {
    const std::string base = kind == std::string_view("user") ? "passwd" : "group";
    const std::string shown = model::quote(name);
    if (known == Known::no)
        all.push_back({Level::warning, kCheck,
                       source + ": the limits name the " + kind + " " + shown +
                           ", and the system knows none of that name",
                       "that rule concerns nobody; perhaps it is mistyped",
                       "use a name that getent " + base + " shows, and then systemctl reload cgpud"});
    if (known == Known::failed)
        all.push_back({Level::problem, kCheck,
                       "it fails when it is asked for the " + std::string(kind) + " " + shown, kEffect,
                       "getent " + base + " " + model::shell_word(name) + ", which asks the same"});
}

}  // namespace

bool limits_need_people(const std::vector<client::ConfigurationValue>& configuration) {
    return std::ranges::any_of(configuration, [](const client::ConfigurationValue& value) {
        return value.key.starts_with(kUsers) || value.key.starts_with(kGroups);
    });
}

Findings check_people(const Look& look) {
    if (!look.snapshot) return {unchecked(kCheck, "whether it knows whom the limits name", kNoDaemon)};
    if (!limits_need_people(look.configuration))
        return {ok(kCheck, "no limit names a user or a group, so it isn't asked")};
    Findings all;
    if (!look.no_people.empty()) {
        Finding finding = from_message(Level::problem, kCheck, look.no_people);
        finding.what = "cgpud gets no answer of it: " + finding.why;
        finding.why = kEffect;
        all.push_back(std::move(finding));
        return all;
    }
    // A name that the system doesn't know may be one that containers declare.
    if (!is_in_force(look, "limits.trust_declared_owners", "true"))
        for (const auto& [name, source] : names_of(look, kUsers))
            judge(knows_user(name), "user", name, source, all);
    for (const auto& [name, source] : names_of(look, kGroups))
        judge(knows_group(name), "group", name, source, all);
    if (all.empty()) all.push_back(ok(kCheck, "it answers, and knows whom the limits name"));
    return all;
}

}  // namespace cgpu::cgpuctl::doctor
