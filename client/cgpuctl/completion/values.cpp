#include "client/cgpuctl/completion/values.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "client/cgpuctl/base/event_types.hpp"
#include "client/cgpuctl/base/verb.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "core/model/instance_word.hpp"
#include "core/model/policy.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using Candidates = std::vector<Candidate>;

/// Empty: a stopped cgpud isn't started only because somebody types.
std::optional<client::Snapshot> read(client::Node& node) {
    const auto service = node.service();
    if (!service || !service->running) return std::nullopt;
    auto snapshot = node.read();
    return snapshot ? std::optional(std::move(*snapshot)) : std::nullopt;
}

Candidates gpus(client::Node& node) {
    Candidates all;
    const auto snapshot = read(node);
    if (!snapshot) return all;
    for (const client::Gpu& gpu : snapshot->gpus)
        if (gpu.present) all.push_back({std::to_string(gpu.index), "GPU, " + printable(gpu.model)});
    return all;
}

/// By name where the name means this one, else by id.
Candidates instances(client::Node& node) {
    Candidates all;
    const auto snapshot = read(node);
    if (!snapshot) return all;
    std::vector<model::Named> known;
    known.reserve(snapshot->instances.size());
    for (const client::Instance& instance : snapshot->instances)
        known.push_back({instance.id, instance.name, instance.owner});
    for (std::size_t each = 0; each < known.size(); ++each) {
        const client::Instance& instance = snapshot->instances[each];
        const bool named = model::is_plain_word(instance.name) &&
                           model::meant_by(instance.name, known, geteuid()) == std::vector{each};
        all.push_back({named ? instance.name : short_id(instance.id),
                       "instance, " + (named ? short_id(instance.id) : shown_name(instance.name))});
    }
    return all;
}

/// Those whose the instances are.
Candidates users(client::Node& node) {
    const auto snapshot = read(node);
    if (!snapshot) return {};
    UserNames names(true);
    std::set<std::string> known;
    for (const client::Instance& instance : snapshot->instances) {
        if (instance.owner)
            known.insert(names.of(*instance.owner));
        else if (model::is_plain_word(instance.declared_owner))
            known.insert(instance.declared_owner);
    }
    Candidates all;
    for (const std::string& name : known) all.push_back({name, "has instances"});
    return all;
}

Candidates versions(client::Node& node) {
    Candidates all;
    const auto snapshot = read(node);
    if (!snapshot) return all;
    for (const std::string& version : snapshot->modules_installed)
        all.push_back({version, version == snapshot->module_version ? "in force" : "installed"});
    return all;
}

Candidates kept_names(client::Node& node) {
    Candidates all;
    const auto snapshot = read(node);
    if (!snapshot) return all;
    std::set<std::string> names;
    for (const client::Kept& each : snapshot->kept)
        if (model::is_plain_word(each.name)) names.insert(each.name);
    for (const std::string& name : names) all.push_back({name, "kept settings"});
    return all;
}

Candidates policies() {
    Candidates all;
    for (const model::Policy policy : model::policies())
        all.push_back({std::string(model::to_string(policy)),
                       "policy " + std::to_string(static_cast<std::uint32_t>(policy))});
    return all;
}

Candidates verb_names() {
    Candidates all;
    for (const Verb& verb : verbs()) all.push_back({std::string(verb.name), std::string(verb.summary)});
    return all;
}

/// Each has memory.
Candidates profiles(client::Node& node) {
    Candidates all;
    const auto values = node.configuration();
    if (!values) return all;
    for (const auto& value : *values) {
        constexpr std::string_view kBegin = "profiles.";
        const auto end = value.key.find(".mem");
        if (value.key.starts_with(kBegin) && end + 4 == value.key.size())
            all.push_back({value.key.substr(kBegin.size(), end - kBegin.size()), value.value});
    }
    std::erase_if(all, [](const Candidate& each) { return each.word.ends_with(".max"); });
    return all;
}

Candidates types_of_events() {
    Candidates all;
    for (const std::string_view type : kEventTypes) all.push_back({std::string(type), ""});
    return all;
}

Candidates joined(Candidates some, const Candidates& others) {
    some.insert(some.end(), others.begin(), others.end());
    return some;
}

}  // namespace

std::vector<Candidate> values_of(std::string_view name, std::string_view verb, client::Node& node) {
    if (name == "GPU" || name == "LIST") return gpus(node);
    if (name == "PROFILE") return profiles(node);
    if (name == "STATE")
        return {{"queued", ""},  {"reserved", ""}, {"waiting", ""},
                {"running", ""}, {"paused", ""},   {"unmanaged", "without a limit"}};
    if (name == "[FOR]") return {{"10m", ""}, {"1h", ""}, {"1d", ""}};
    if (name == "USER") return users(node);
    if (name == "GPU|node...") return joined(gpus(node), {{"node", "all GPUs"}});
    if (name == "TYPE") return types_of_events();
    if (name == "DURATION") return {{"30m", ""}, {"2h", ""}, {"8h", ""}, {"24h", ""}};
    if (name == "TIME")
        return {{"10min", ""},     {"1h", ""},     {"today", ""},
                {"yesterday", ""}, {"monday", ""}, {"last-week", ""}};
    if (name == "PERIOD")
        return {{"today", ""},      {"yesterday", ""},  {"this-week", ""}, {"last-week", ""},
                {"this-month", ""}, {"last-month", ""}, {"this-year", ""}, {"last-year", ""}};
    if (name == "ROWS")
        return {{"name", "of instances"}, {"gpu", ""}, {"day", ""}, {"user", "whose the instances are"}};
    if (name == "INSTANCE..." || name == "INSTANCE") return instances(node);
    if (name == "INSTANCE|GPU") return joined(gpus(node), instances(node));
    if (name == "POLICY") return policies();
    if (name == "PRIORITY") return {{"high", "before the policy"}, {"normal", "by the policy"}};
    if (name == "MODE")
        return {{"none", "all share the whole card"},
                {"memory", "memory is limited"},
                {"memory+compute", "memory and compute are limited"},
                {"configured", "what the configuration says"}};
    if (name == "VERSION" || name == "VERSION|FOLDER") return versions(node);
    if (name == "VERB") return verb_names();
    if (name == "NAME" && verb == "forget") return kept_names(node);
    if (name == "ENGINE")
        return {
            {"docker", "the default"}, {"podman", "for all users of the machine"}, {"containerd", "for CRI"}};
    if (name == "NAME" && verb == "runtime configure") return {{"nvidia", "the name of NVIDIA's runtime"}};
    if (name == "GPU|INSTANCE|SETTING...")
        return joined(joined(gpus(node), instances(node)),
                      {{"default-memory", "as configured"}, {"mode", "as configured"}});
    if (name == "FILE" || name == "FILE..." || name == "FOLDER" || name == "FOLDER|TAR")
        return {{kFiles, ""}};
    return {};
}

}  // namespace cgpu::cgpuctl
