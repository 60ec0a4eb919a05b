#pragma once

#include "module/front/contexts/set_aside_memory.hpp"
#include "module/front/session/session.hpp"

/// Around driver calls that take device memory of unknown size: contexts, code, heaps. The daemon sets an
/// estimate aside first, so a call that can't fit isn't made, and queries the driver's figure for the process
/// afterwards.
namespace cgpu::front {

/// `topic`: context or load. kSuccess or kOutOfMemory. Asks nothing if the GPU doesn't isolate memory.
CUresult set_aside(wire::Topic topic, int gpu, std::uint64_t bytes, SetAsideMemory& aside);
/// Announces that a function's code is about to be loaded, beside the code that was set aside for its module.
/// The daemon holds back what that may take beyond the code, if there is room, until the driver shows it.
/// Never refused: most functions take nothing.
void announce_function(int gpu, SetAsideMemory& aside);
/// The thing exists now, or the driver refused it.
void end_aside(const SetAsideMemory& aside, bool made);

/// For code: `call` is a driver call that loads about this many bytes of code onto the GPU. 0: a function of
/// code that is there.
template <class Call>
CUresult loading(int gpu, std::uint64_t bytes, Call call) {
    const Uncancelled uncancelled;
    SetAsideMemory aside;
    if (bytes == 0) {
        announce_function(gpu, aside);
    } else if (const CUresult refused = set_aside(wire::Topic::load, gpu, bytes, aside);
               refused != kSuccess) {
        return refused;
    }
    const CUresult result = call();
    end_aside(aside, result == kSuccess);
    return result;
}

}  // namespace cgpu::front
