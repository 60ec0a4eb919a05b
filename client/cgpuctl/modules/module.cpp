#include "bundle/bundle.hpp"

#include "client/cgpuctl/modules/module_actions.hpp"
#include "client/run/mounts/mount_plan.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
using client::Result;
using Kind = client::ClientError::Kind;

std::filesystem::path modules_folder(const ModulesInput& input) {
    return input.folder.empty() ? client::ModuleFolders().module : input.folder;
}

Result<upgrade::Version> read_version(const std::string& text) {
    if (const auto version = upgrade::Version::parse(text)) return *version;
    return client::fail(Kind::usage,
                        model::quote(text) +
                            ": it is no version, which has three numbers of 0 to 255. Try: cgpuctl "
                            "module list.");
}

std::string likely_version(const std::string& action, const upgrade::Version& version,
                           const std::filesystem::path& modules) {
    std::vector<std::string> names;
    for (const upgrade::Version& each : bundle::versions_in(modules)) names.push_back(each.str());
    const auto likely = model::most_similar(version.str(), {names.begin(), names.end()});
    return "cgpuctl module " + (likely.empty() ? "list" : action + " " + std::string(likely));
}

}  // namespace cgpu::cgpuctl
