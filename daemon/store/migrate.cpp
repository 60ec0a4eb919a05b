#include "daemon/store/migrate.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "daemon/store/kept_json.hpp"

namespace cgpu::store {

namespace {

/// The version of the module in force was not stored: the next cgpud takes its own.
void add_upgrade(nlohmann::json& document) { document["upgrade"] = {{"in_force", ""}}; }

/// No mode was switched before. A damaged document is left to its reader.
void add_mode(nlohmann::json& document) {
    const auto upgrade = document.find("upgrade");
    if (upgrade != document.end() && upgrade->is_object()) (*upgrade)["mode"] = "";
}

/// It was not stored which weights were percentages: all of them are numbers of slices.
void add_percent(nlohmann::json& document) {
    const auto instances = document.find("instances");
    if (instances == document.end() || !instances->is_array()) return;
    for (nlohmann::json& instance : *instances) {
        if (!instance.is_object() || !instance.contains("quotas") || !instance["quotas"].is_array()) continue;
        for (nlohmann::json& quota : instance["quotas"])
            if (quota.is_object()) quota.emplace("percent", 0U);
    }
}

/// The creator of an instance was not stored, and no settings were kept.
void add_kept(nlohmann::json& document) {
    document.emplace("kept", nlohmann::json::array());
    const auto instances = document.find("instances");
    if (instances == document.end() || !instances->is_array()) return;
    for (nlohmann::json& instance : *instances)
        if (instance.is_object()) instance.emplace("owner", kNoOwner);
}

/// The default memory was never set at run time, and a state in which it isn't set has nothing about it.
void add_default_memory(nlohmann::json&) {}

/// What an instance was admitted with was not stored: what it has now counts as that. Nothing was set until
/// the reboot, and no job went back to the configured mode.
void add_ends(nlohmann::json& document) {
    const auto upgrade = document.find("upgrade");
    if (upgrade == document.end() || !upgrade->is_object()) return;
    const auto job = upgrade->find("job");
    if (job == upgrade->end() || !job->is_object()) return;
    job->emplace("configured", false);
    job->emplace("until_reboot", false);
}

/// The image of an instance was not stored.
void add_image(nlohmann::json& document) {
    const auto instances = document.find("instances");
    if (instances == document.end() || !instances->is_array()) return;
    for (nlohmann::json& instance : *instances)
        if (instance.is_object()) instance.emplace("image", "");
}

/// Who set what a GPU has was not stored: all of it stays, as if it had been set by hand. So it keeps its
/// policy, which is one of 0 to 5, whatever the default is now.
void add_by_hand(nlohmann::json& document) {
    const auto mark = [](nlohmann::json& owner) {
        if (!owner.is_object() || !owner.contains("gpus") || !owner["gpus"].is_array()) return;
        for (nlohmann::json& gpu : owner["gpus"])
            if (gpu.is_object())
                gpu.emplace("by_hand", nlohmann::json::array({"policy", "max_inst", "prio_ratio"}));
    };
    mark(document);
    if (document.contains("until_reboot")) mark(document["until_reboot"]);
}

constexpr std::array kMigrations = {Migration{1, add_upgrade},        Migration{2, add_mode},
                                    Migration{3, add_percent},        Migration{4, add_kept},
                                    Migration{5, add_default_memory}, Migration{6, add_ends},
                                    Migration{7, add_image},          Migration{8, add_by_hand}};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

bool migrate(nlohmann::json& document, std::uint64_t from, std::uint64_t to,
             std::span<const Migration> steps) {
    for (std::uint64_t version = from; version < to; ++version) {
        const auto step = std::find_if(steps.begin(), steps.end(), [version](const Migration& migration) {
            return migration.from == version;
        });
        if (step == steps.end()) return false;
        step->step(document);
    }
    document["version"] = to;
    return true;
}

}  // namespace cgpu::store
