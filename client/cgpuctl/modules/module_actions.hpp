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

client::Result<void> module_list(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> module_show(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> module_verify(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> module_add(const Input& input, client::Node& node, Terminal& terminal);
client::Result<void> module_remove(const Input& input, client::Node& node, Terminal& terminal);

/// The folder of modules to use.
[[nodiscard]] std::filesystem::path modules_folder(const Input& input);
/// Error: usage.
[[nodiscard]] client::Result<upgrade::Version> read_version(const std::string& text);

/// The command that does the action with the installed version whose number is the most similar, or else
/// lists all.
[[nodiscard]] std::string likely_version(const std::string& action, const upgrade::Version& version,
                                         const std::filesystem::path& modules);

}  // namespace cgpu::cgpuctl
