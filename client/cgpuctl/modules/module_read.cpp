#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bundle/bundle.hpp"
#include "client/cgpuctl/modules/module_actions.hpp"
#include "client/cgpuctl/modules/module_offer.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "client/modules/installed.hpp"
#include "client/modules/refused.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::InstalledModule;
using client::Result;
using Kind = client::ClientError::Kind;

/// The version in force; empty if the daemon doesn't answer, which is not needed here.
std::optional<std::string> in_force(client::Node& node) {
    const auto snapshot = node.read();
    return snapshot ? std::optional(snapshot->module_version) : std::nullopt;
}

std::string force_text(const InstalledModule& module, const std::optional<std::string>& current) {
    if (!current) return "unknown";
    return *current == module.version.str() ? "yes" : "no";
}

Json module_json(const InstalledModule& module, const std::optional<std::string>& current) {
    Json json = {{"version", module.version.str()},
                 {"path", module.folder.native()},
                 {"sound", module.sound()},
                 {"fault", module.fault},
                 {"in_force", current ? Json(*current == module.version.str()) : Json(nullptr)},
                 {"processes", module.processes}};
    json["manifest"] = nullptr;
    if (const auto& manifest = module.manifest)
        json["manifest"] = {{"compatible_from", manifest->compatible_from.str()},
                            {"least_front", manifest->least_front.str()},
                            {"abi", manifest->abi},
                            {"pages", manifest->pages},
                            {"link", manifest->link},
                            {"engine", manifest->engine},
                            {"sha256", manifest->sha256},
                            {"machine", manifest->machine}};
    return json;
}

std::string list_of(const std::vector<std::uint32_t>& pids) {
    std::string text;
    for (const std::uint32_t pid : pids) text += (text.empty() ? "" : " ") + std::to_string(pid);
    return text;
}

void warn_of_unseen(const client::EngineUsers& users, const ModulesInput& input, Terminal& terminal) {
    if (!users.all_seen && !input.quiet)
        terminal.warning(
            "processes: some may not be examined, and are missing here. Try: run it as root, on the host.");
}

/// What verify checks: a path, and its name in the output.
struct Place {
    std::string name;
    std::filesystem::path folder;
};

Result<std::vector<Place>> places_of(const ModuleInput& input) {
    const auto modules = modules_folder(input);
    if (const auto version = upgrade::Version::parse(input.what))
        return std::vector{Place{input.what, modules / version->str()}};
    std::error_code none;
    using std::filesystem::file_type;
    if (!input.what.empty() &&
        std::filesystem::symlink_status(input.what, none).type() == file_type::not_found)
        return client::fail(Kind::not_found,
                            input.what +
                                ": there is no version, and no folder, of that name. Try: name a version of "
                                "cgpuctl module list, or the folder of one.");
    if (!input.what.empty()) return std::vector{Place{input.what, input.what}};
    std::vector<Place> places;
    for (const upgrade::Version& version : bundle::versions_in(modules))
        places.push_back({version.str(), modules / version.str()});
    if (places.empty())
        return client::fail(
            Kind::not_found,
            modules.native() + ": there is no version of the module in it. Try: install the package again.");
    return places;
}

}  // namespace

Result<void> module_list(const ModulesInput& input, client::Node& node, Terminal& terminal) {
    const auto users = client::find_engine_users();
    const auto modules = client::installed_modules(modules_folder(input), users);
    const auto current = in_force(node);
    if (input.json) {
        Json list = Json::array();
        for (const InstalledModule& module : modules) list.push_back(module_json(module, current));
        terminal.out() << to_text(list);
        return {};
    }
    Table table({"VERSION", "IN FORCE", "STATE", "HOT FROM", "PROCESSES"});
    for (const InstalledModule& module : modules)
        table.add({module.version.str(), force_text(module, current), module.sound() ? "sound" : "unusable",
                   module.manifest ? module.manifest->compatible_from.str() : "",
                   std::to_string(module.processes.size())});
    table.print(terminal, !input.no_legend);
    std::vector<std::string> sound;
    for (const InstalledModule& module : modules)
        if (module.sound()) sound.push_back(module.version.str());
    const auto offer = offer_text(current.value_or(""), sound);
    if (!offer.empty() && !input.no_legend && !input.quiet) terminal.out() << offer << '\n';
    for (const InstalledModule& module : modules)
        if (!module.sound() && !input.quiet) terminal.warning(module.fault);
    warn_of_unseen(users, input, terminal);
    return {};
}

Result<void> module_show(const ModuleInput& input, client::Node& node, Terminal& terminal) {
    const auto version = read_version(input.what);
    if (!version) return tl::unexpected(version.error());
    const auto users = client::find_engine_users();
    const auto module = client::look_at_module(modules_folder(input), *version, users);
    std::error_code none;
    if (!std::filesystem::exists(module.folder, none))
        return client::fail(Kind::not_found, "module " + version->str() + ": it is not installed. Try: " +
                                                 likely_version("show", *version, modules_folder(input)) +
                                                 ".");
    const auto current = in_force(node);
    if (input.json) {
        terminal.out() << to_text(module_json(module, current));
        return {};
    }
    print_facts(terminal, {{"Module", module.version.str()},
                           {"Folder", module.folder.native()},
                           {"State", module.sound() ? "sound" : "unusable"},
                           {"In force", force_text(module, current)},
                           {"Processes", list_of(module.processes)}});
    if (const auto& manifest = module.manifest)
        print_facts(terminal, {{"Hot from", manifest->compatible_from.str()},
                               {"Least front", manifest->least_front.str()},
                               {"Engine", manifest->engine},
                               {"SHA-256", manifest->sha256},
                               {"Machine", manifest->machine},
                               {"ABI", std::to_string(manifest->abi)},
                               {"Pages", std::to_string(manifest->pages)},
                               {"Link", std::to_string(manifest->link)}});
    if (!module.sound()) terminal.warning(module.fault);
    warn_of_unseen(users, input, terminal);
    return {};
}

Result<void> module_verify(const ModuleInput& input, client::Node&, Terminal& terminal) {
    const auto places = places_of(input);
    if (!places) return tl::unexpected(places.error());
    Json list = Json::array();
    std::vector<model::Refusal> faults;
    for (const Place& place : *places) {
        const auto verified = bundle::verify(place.folder);
        if (!verified) faults.push_back(verified.error());
        if (verified && !input.json) terminal.done(place.name + ": sound");
        list.push_back({{"path", place.folder.native()},
                        {"version", verified ? Json(verified->version.str()) : Json(nullptr)},
                        {"sound", verified.has_value()},
                        {"fault", verified ? "" : verified.error().text}});
    }
    if (input.json) terminal.out() << to_text(list);
    if (faults.empty()) return {};
    for (std::size_t i = 0; i + 1 < faults.size(); ++i) terminal.error(faults[i].text);
    return client::refused(faults.back());
}

}  // namespace cgpu::cgpuctl
