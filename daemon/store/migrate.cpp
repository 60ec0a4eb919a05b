#include "daemon/store/migrate.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cgpu::store {

std::span<const Migration> migrations() { return {}; }

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
