#include "daemon/store/migrate.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace cgpu::store {

const Layouts& Layouts::today() {
    static constexpr std::array kSteps = {
        Migration{9, [](nlohmann::json&) {}},  // 10 has a checksum
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
