#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/terminal.hpp"
#include "client/node/node.hpp"
#include "core/upgrade/version.hpp"

/// The actions of `cgpuctl module ACTION`, one function for each.
namespace cgpu::cgpuctl {

struct ModuleInput : Input {
    std::string action;
    std::string what;    ///< a version, a folder or a tar file
    std::string folder;  ///< where the versions lie
};

client::Result<void> module(const ModuleInput& input, client::Node& node, Terminal& terminal);

client::Result<void> module_list(const ModuleInput& input, client::Node& node, Terminal& terminal);
client::Result<void> module_show(const ModuleInput& input, client::Node& node, Terminal& terminal);
client::Result<void> module_verify(const ModuleInput& input, client::Node& node, Terminal& terminal);
client::Result<void> module_add(const ModuleInput& input, client::Node& node, Terminal& terminal);
client::Result<void> module_remove(const ModuleInput& input, client::Node& node, Terminal& terminal);

/// The folder of modules to use.
[[nodiscard]] std::filesystem::path modules_folder(const ModuleInput& input);
/// Error: usage.
[[nodiscard]] client::Result<upgrade::Version> read_version(const std::string& text);

/// The command that does the action with the installed version whose number is the most similar, or else
/// lists all.
[[nodiscard]] std::string likely_version(const std::string& action, const upgrade::Version& version,
                                         const std::filesystem::path& modules);

}  // namespace cgpu::cgpuctl
