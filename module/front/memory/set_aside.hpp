#pragma once

#include "module/front/contexts/set_aside_memory.hpp"
#include "module/front/session/session.hpp"

/// Around driver calls that take device memory of a size that nobody knows before: contexts, code, heaps. The
/// daemon sets an estimate aside first, so a call that can't fit isn't made, and looks at the driver's figure
/// for the process afterwards.
namespace cgpu::front {

/// `topic`: context or load. kSuccess or kOutOfMemory. Nothing is asked where the GPU doesn't isolate memory.
CUresult set_aside(wire::Topic topic, int gpu, std::uint64_t bytes, SetAsideMemory& aside);
/// The thing exists now, or the driver refused it.
void end_aside(const SetAsideMemory& aside, bool made);

/// For code: `call` is a driver call that loads about so many bytes of it onto the GPU.
template <class Call>
CUresult loading(int gpu, std::uint64_t bytes, Call call) {
    const Uncancelled uncancelled;
    SetAsideMemory aside;
    if (const CUresult refused = set_aside(wire::Topic::load, gpu, bytes, aside); refused != kSuccess)
        return refused;
    const CUresult result = call();
    end_aside(aside, result == kSuccess);
    return result;
}

}  // namespace cgpu::front
