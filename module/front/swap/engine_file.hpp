#pragma once

#include <span>

#include "core/wire/message.hpp"
#include "module/front/swap/sections.hpp"

namespace cgpu::front {

/// Loads <engine folder>/<path> and makes an engine of it: `done`; or not_loadable, other_abi, other_version,
/// with the reason in `why`, and then nothing is left loaded. `version` 0: any will do.
wire::SwitchResult load_engine(const char* path, std::uint32_t version, Running& running,
                               std::span<char> why);

/// Ends the engine, in which nobody is any more, and lets its code go.
void unload_engine(Running& running);

/// Lets the code of engines go that the parent of this forked process had loaded. The engines themselves stay
/// in memory as the fork found them.
void unload_code(Running& running);

/// Around a fork: a child may load code itself, so it must not have a copy of the loader's lists in the midst
/// of a change that its program knows nothing of. Waits for that to end, a tenth of a second at most.
void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

}  // namespace cgpu::front
