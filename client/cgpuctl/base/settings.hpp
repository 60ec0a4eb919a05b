#pragma once

#include "client/cgpuctl/base/input.hpp"
#include "client/node/node.hpp"

/// How the command line wants a change to be made. Error (usage): --if-generation isn't a number.
namespace cgpu::cgpuctl {

/// Of a GPU or the node.
[[nodiscard]] client::Result<client::Setup> setup_of(const Input& input);
/// Of an instance.
[[nodiscard]] client::Result<client::Setting> setting_of(const Input& input);

}  // namespace cgpu::cgpuctl
