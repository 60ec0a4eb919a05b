#pragma once

#include "module/front/session.hpp"

/// Around driver calls that take device memory of a size that nobody knows before: contexts, code, heaps. The
/// daemon sets an estimate aside first, so a call that can't fit isn't made, and looks at the driver's figure
/// for the process afterwards.
namespace cgpu::front {

/// What the daemon has set aside.
struct Aside {
    int gpu = kForeignGpu;
    std::uint64_t bytes = 0;  ///< as granted; 0: nothing
};

/// `topic`: context or load. kSuccess or kOutOfMemory. Nothing is asked where the GPU doesn't isolate memory.
CUresult set_aside(wire::Topic topic, int gpu, std::uint64_t bytes, Aside& aside);
/// The thing exists now, or the driver refused it.
void end_aside(const Aside& aside, bool made);

/// For code: `call` is a driver call that loads about so many bytes of it onto the GPU.
template <class Call>
CUresult loading(int gpu, std::uint64_t bytes, Call call) {
    const Uncancelled uncancelled;
    Aside aside;
    if (const CUresult refused = set_aside(wire::Topic::load, gpu, bytes, aside); refused != kSuccess)
        return refused;
    const CUresult result = call();
    end_aside(aside, result == kSuccess);
    return result;
}

}  // namespace cgpu::front
