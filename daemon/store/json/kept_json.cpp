#include "daemon/store/json/kept_json.hpp"

#include <nlohmann/json.hpp>

#include "daemon/store/json/json_fields.hpp"

namespace cgpu::store {
namespace {

using model::KeptFigures;
using model::KeptKey;
using nlohmann::json;
using nlohmann::ordered_json;

std::string priority_text(const std::optional<bool>& high) {
    if (!high) return {};
    return *high ? "high" : "normal";
}

tl::expected<std::optional<bool>, std::string> parse_priority(const std::string& text) {
    if (text.empty()) return std::nullopt;
    if (text == "high" || text == "normal") return text == "high";
    return tl::unexpected(std::string("it is neither high nor normal, nor empty"));
}

}  // namespace

ordered_json kept_json(const model::Kept& kept) {
    ordered_json list = ordered_json::array();
    for (const auto& [key, figures] : kept)
        list.push_back({{"owner", key.owner},
                        {"name", key.name},
                        {"device", key.device},
                        {"memory_limit_bytes", figures.memory_limit.value_or(model::Bytes()).count()},
                        {"weight", figures.weight.value_or(0)},
                        {"priority", priority_text(figures.high_priority)}});
    return list;
}

model::Kept read_kept(const json& list, const std::string& place, std::string& error) {
    model::Kept kept;
    std::size_t number = 0;
    for (const json& entry : list) {
        Fields fields(entry, item(place, number++), error);
        KeptKey key{fields.number32("owner"), fields.text("name"), fields.number32("device")};
        KeptFigures figures;
        if (const auto bytes = fields.number("memory_limit_bytes"); bytes != 0)
            figures.memory_limit = model::Bytes(bytes);
        if (const auto weight = fields.number32("weight"); weight != 0) figures.weight = weight;
        figures.high_priority = fields.parsed("priority", parse_priority);
        fields.refuse_others();
        // If a device occurs twice, which no writer produces, the first entry counts.
        kept.emplace(std::move(key), figures);
    }
    return kept;
}

}  // namespace cgpu::store
