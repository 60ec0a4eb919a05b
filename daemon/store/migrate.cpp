#include "daemon/store/migrate.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "daemon/store/json/kept_json.hpp"

namespace cgpu::store {
namespace {

/// 11 tells whose an instance is from who asked for it, and has drained GPUs and paused instances. What isn't
/// of the right kind stays: whoever reads the document says so.
void add_owners(nlohmann::json& document) {
    const auto each = [](nlohmann::json& of, const char* name, const auto& change) {
        if (!of.is_object() || !of.contains(name) || !of[name].is_array()) return;
        for (auto& entry : of[name])
            if (entry.is_object()) change(entry);
    };
    each(document, "gpus", [](auto& gpu) { gpu["drained"] = false; });
    each(document, "instances", [&](auto& instance) {
        if (!instance.contains("owner")) return;
        instance["creator"] = instance["owner"];
        // Root's were jobs or containers, and nothing said which.
        if (instance["owner"] == 0) instance["owner"] = kNoOwner;
        instance["declared_owner"] = "";
        each(instance, "quotas", [](auto& quota) { quota["paused"] = false; });
    });
}

}  // namespace

const Layouts& Layouts::today() {
    static constexpr std::array kSteps = {
        Migration{9, [](nlohmann::json&) {}},  // 10 has a checksum
        Migration{10, add_owners},
        Migration{11, [](nlohmann::json&) {}},  // 12 has time limits, and who ended by them
    };
    static constexpr Layouts kToday{kOldestStateVersion, kStateVersion, kSteps};
    return kToday;
}

bool migrate(nlohmann::json& document, std::uint64_t from, const Layouts& layouts) {
    if (from < layouts.oldest) return false;
    for (std::uint64_t version = from; version < layouts.newest; ++version) {
        const auto step =
            std::find_if(layouts.steps.begin(), layouts.steps.end(),
                         [version](const Migration& migration) { return migration.from == version; });
        if (step == layouts.steps.end()) return false;
        step->step(document);
    }
    document["version"] = layouts.newest;
    return true;
}

}  // namespace cgpu::store
