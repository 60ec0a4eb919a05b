#include "daemon/store/json/spent_json.hpp"

#include <nlohmann/json.hpp>

#include "core/model/duration.hpp"
#include "daemon/store/json/json_fields.hpp"
#include "daemon/store/json/kept_json.hpp"

namespace cgpu::store {

nlohmann::ordered_json spent_json(const model::Spent& spent) {
    return {{"id", spent.id.str()},
            {"name", spent.name},
            {"owner", spent.owner.user.value_or(kNoOwner)},
            {"declared_owner", spent.owner.declared},
            {"seconds", spent.seconds},
            {"granted", spent.granted},
            {"idle", spent.idle}};
}

model::SpentList read_spent(const nlohmann::json& list, const std::string& place, std::string& error) {
    model::SpentList all;
    std::size_t number = 0;
    for (const nlohmann::json& entry : list) {
        Fields fields(entry, item(place, number++), error);
        const auto id = fields.parsed("id", model::InstanceId::parse);
        if (!id) break;
        model::Spent spent{*id, fields.text("name"), {}};
        if (const auto owner = fields.number32("owner"); owner != kNoOwner) spent.owner.user = owner;
        spent.owner.declared = fields.text("declared_owner");
        spent.seconds = fields.number("seconds", model::kLongestDuration);
        spent.granted = fields.number("granted", model::kLongestDuration);
        if (entry.contains("idle")) spent.idle = fields.number("idle", model::kLongestDuration);
        fields.refuse_others();
        all.push_back(std::move(spent));
    }
    return all;
}

}  // namespace cgpu::store
