#include "client/cgpuctl/modules/module_actions.hpp"
#include "client/modules/add_bundle.hpp"
#include "client/modules/remove_bundle.hpp"

namespace cgpu::cgpuctl {

client::Result<void> module_add(const ModuleInput& input, client::Node&, Terminal& terminal) {
    const auto version = client::add_bundle(input.what, modules_folder(input), input.dry_run);
    if (!version) return tl::unexpected(version.error());
    terminal.done("module " + version->str() +
                  (input.dry_run ? ": it would be added; nothing was changed."
                                 : " is installed. What runs goes on with its own version."));
    return {};
}

client::Result<void> module_remove(const ModuleInput& input, client::Node& node, Terminal& terminal) {
    const auto version = read_version(input.what);
    if (!version) return tl::unexpected(version.error());
    // Only the daemon knows which version is in force; without that none is removed.
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto modules = modules_folder(input);
    auto removed = client::remove_bundle({*version, snapshot->module_version, client::find_engine_users(),
                                          modules, modules.parent_path() / "front", input.dry_run});
    if (!removed) return removed;
    terminal.done("module " + version->str() +
                  (input.dry_run ? ": it would be removed; nothing was changed." : " is removed."));
    return {};
}

}  // namespace cgpu::cgpuctl
