#include "daemon/app/drivers/newer_functions.hpp"

#include <algorithm>

#include "core/model/quote.hpp"
#include "daemon/app/ports/log.hpp"

namespace cgpu::app {
namespace {

// Images can bring any number of drivers, with any names in them.
constexpr std::size_t kMostFiles = 256;
constexpr std::size_t kMostNames = 256;
constexpr std::size_t kNamesInLog = 16;

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kNamesInLog); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    return names.size() > kNamesInLog ? text + ", ..." : text;
}

}  // namespace

void NewerFunctions::was_read(const DriverFileId& file, const std::string& path,
                              const std::vector<std::string>& newer) {
    if (seen_.size() >= kMostFiles) seen_.clear();
    if (!seen_.insert(file).second || newer.empty()) return;
    log::warn(
        "driver {}: it has {} functions that are newer than this release, and no limit holds for what they "
        "do: "
        "{}. Try: install the newest release of cgpu.",
        model::quote(path), newer.size(), listed(newer));
    const auto before = names_.size();
    for (const std::string& name : newer)
        if (names_.size() < kMostNames) names_.insert(name);
    if (names_.size() != before) publish_(names());
}

}  // namespace cgpu::app
