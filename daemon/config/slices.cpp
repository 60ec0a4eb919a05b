#include "daemon/config/slices.hpp"

#include <map>
#include <string>

#include "core/model/quote.hpp"
#include "daemon/config/limits/values.hpp"

namespace cgpu::config {
namespace {

/// `limits.default.compute = "4%"`
std::string what_of(const Entry& entry) {
    std::string what;
    for (const std::string& part : entry.path) what += (what.empty() ? "" : ".") + part;
    return what + " = " + model::quote(entry.value);
}

}  // namespace

Problems odd_percentages(const Config& config, const std::vector<Entry>& entries) {
    std::map<std::vector<std::string>, const Entry*> in_force;  // the last of each path
    for (const Entry& entry : entries)
        if (entry.path.size() > 2 && entry.path.back() == "compute") in_force[entry.path] = &entry;
    const std::uint32_t slices = config.gpu_defaults.max_inst;
    const std::string of_gpu = "of a GPU with max_inst " + std::to_string(slices);
    const std::string least = std::to_string((99 + slices) / slices) + "%";
    Problems found;
    for (const auto& [path, entry] : in_force) {
        const auto percent = read_number(without_percent(entry->value), 1, 100);
        if (!percent) continue;  // unlimited
        if (path.front() == "limits" && *percent * slices < 100)
            found.push_back(problem(entry->origin, what_of(*entry),
                                    "it is less than one slice " + of_gpu + ", so it allows nothing there",
                                    "use " + least + " or more, or a larger max_inst"));
        if (path.front() == "profiles" && path.size() == 3 && *percent * slices % 100 != 0)
            found.push_back(problem(entry->origin, what_of(*entry),
                                    "it is no whole number of slices " + of_gpu +
                                        ", so a request with this profile is refused there",
                                    "use a multiple of a slice, or another max_inst"));
    }
    return found;
}

}  // namespace cgpu::config
