#pragma once

#include <span>

#include "core/wire/message.hpp"
#include "module/front/swap/sections.hpp"

namespace cgpu::front {

/// Loads <engine folder>/<path> and creates an engine from it: `done`; or not_loadable, other_abi,
/// other_version, with the reason in `why`, and then nothing stays loaded. `version` 0: any version is
/// accepted.
wire::SwitchResult load_engine(const char* path, std::uint32_t version, Running& running,
                               std::span<char> why);

/// Ends the engine, in which no thread is any more, and unloads its code.
void unload_engine(Running& running);

/// Unloads the code of engines that the parent of this forked process had loaded. The engines themselves stay
/// in memory as the fork found them.
void unload_code(Running& running);

}  // namespace cgpu::front
