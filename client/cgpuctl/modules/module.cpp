#include <algorithm>
#include <array>

#include "bundle/bundle.hpp"

#include "client/cgpuctl/modules/module_actions.hpp"
#include "client/run/mounts/mount_plan.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

struct Action {
    enum class Takes { nothing, something, either };
    std::string_view name;
    Takes takes;
    bool changes;
    std::string_view usage;
    Result<void> (*run)(const ModuleInput&, client::Node&, Terminal&);
};

constexpr std::array kActions = {
    Action{"list", Action::Takes::nothing, false, "list", &module_list},
    Action{"show", Action::Takes::something, false, "show VERSION", &module_show},
    Action{"add", Action::Takes::something, true, "add FOLDER|TAR", &module_add},
    Action{"remove", Action::Takes::something, true, "remove VERSION", &module_remove},
    Action{"verify", Action::Takes::either, false, "verify [VERSION|FOLDER]", &module_verify},
};

/// Empty if the action can be carried out.
std::string why_not(const Action& action, const ModuleInput& input) {
    if (action.takes == Action::Takes::something && input.what.empty()) return "it needs to know which";
    if (action.takes == Action::Takes::nothing && !input.what.empty()) return "it takes nothing more";
    if (action.changes && input.json) return "it prints no JSON";
    if (!action.changes && input.dry_run) return "it changes nothing, so there is no dry run of it";
    return {};
}

}  // namespace

std::filesystem::path modules_folder(const ModuleInput& input) {
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

Result<void> module(const ModuleInput& input, client::Node& node, Terminal& terminal) {
    const auto action = std::find_if(kActions.begin(), kActions.end(),
                                     [&](const Action& each) { return each.name == input.action; });
    if (action == kActions.end()) {
        std::vector<std::string_view> names;
        names.reserve(kActions.size());
        for (const Action& each : kActions) names.push_back(each.name);
        const auto likely = model::most_similar(input.action, names);
        return client::fail(Kind::usage, "cgpuctl module " + model::quote(input.action) +
                                             ": there is no such action. Try: cgpuctl module " +
                                             (likely.empty() ? "--help" : std::string(likely)) + ".");
    }
    if (const auto why = why_not(*action, input); !why.empty())
        return client::fail(Kind::usage, "cgpuctl module " + std::string(action->name) + ": " + why +
                                             ". Try: cgpuctl module " + std::string(action->usage) + ".");
    return action->run(input, node, terminal);
}

}  // namespace cgpu::cgpuctl
