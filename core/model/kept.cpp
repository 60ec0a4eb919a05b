#include "core/model/kept.hpp"

#include "core/model/size.hpp"

namespace cgpu::model {

std::string describe(const KeptFigures& figures) {
    std::string text;
    const auto add = [&text](const std::string& figure) { text += (text.empty() ? "" : ", ") + figure; };
    if (figures.memory_limit) add("memory limit " + format_size(*figures.memory_limit));
    if (figures.weight) add("weight " + std::to_string(*figures.weight));
    if (figures.high_priority) add(*figures.high_priority ? "high priority" : "normal priority");
    return text;
}

std::string describe(const KeptOfInstance& kept) {
    std::string text;
    for (const auto& [device, figures] : kept)
        text += (text.empty() ? "" : ", ") + describe(figures) +
                (device == 0 ? "" : " on its device " + std::to_string(device));
    return text;
}

bool has_name_of_its_own(const InstanceId& id, const std::string& name) {
    // A short name may be the prefix of an id by chance; names that engines generate have 12 characters.
    const bool from_id = id.str() == name || id.short_id() == name ||
                         (name.size() >= id.short_id().size() && id.str().starts_with(name));
    return !name.empty() && !from_id;
}

}  // namespace cgpu::model
