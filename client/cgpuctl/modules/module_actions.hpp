#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"
#include "core/upgrade/version.hpp"

/// The verbs within `cgpuctl module`.
namespace cgpu::cgpuctl {

struct ModulesInput : Input {
    std::string folder;  ///< where the versions lie
};

struct ModuleInput : ModulesInput {
    std::string what;  ///< a version, a folder or a tar file
};

client::Result<void> module_list(const ModulesInput& input, client::Node& node, Terminal& terminal);
client::Result<void> module_show(const ModuleInput& input, client::Node& node, Terminal& terminal);
client::Result<void> module_verify(const ModuleInput& input, client::Node& node, Terminal& terminal);
client::Result<void> module_add(const ModuleInput& input, client::Node& node, Terminal& terminal);
client::Result<void> module_remove(const ModuleInput& input, client::Node& node, Terminal& terminal);

/// The folder of modules to use.
[[nodiscard]] std::filesystem::path modules_folder(const ModulesInput& input);
/// Error: usage.
[[nodiscard]] client::Result<upgrade::Version> read_version(const std::string& text);

/// The command that does the action with the installed version whose number is the most similar, or else
/// lists all.
[[nodiscard]] std::string likely_version(const std::string& action, const upgrade::Version& version,
                                         const std::filesystem::path& modules);

}  // namespace cgpu::cgpuctl
