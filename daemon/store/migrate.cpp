#include "daemon/store/migrate.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace cgpu::store {

namespace {

/// Which version of the module is in force was not written down: the next cgpud takes its own.
void add_upgrade(nlohmann::json& document) { document["upgrade"] = {{"in_force", ""}}; }

/// No mode was switched before. A document that is damaged is left to who reads it.
void add_mode(nlohmann::json& document) {
    const auto upgrade = document.find("upgrade");
    if (upgrade != document.end() && upgrade->is_object()) (*upgrade)["mode"] = "";
}

constexpr std::array kMigrations = {Migration{1, add_upgrade}, Migration{2, add_mode}};

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
