#include "daemon/store/migrate.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cgpu::store {

const Layouts& Layouts::today() {
    // The oldest version is the present one, so there is no step yet.
    static constexpr Layouts kToday{kOldestStateVersion, kStateVersion, {}};
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
