#pragma once

#include "module/front/lease/reserve.hpp"
#include "module/front/session/session.hpp"

/// Reserve → driver call → commit or cancel, for all calls that take device memory.
namespace cgpu::front {

/// The result of a driver call.
struct Made {
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
};

/// Runs `make(Made&)`, a driver call that takes at most `bytes` of a GPU that isolates memory, and charges
/// what it made. `context`: the key of the context whose end frees it; 0: none.
template <class Make>
CUresult charged(int gpu, std::uint64_t bytes, module::Holding kind, std::uint64_t context, Make make) {
    const Uncancelled uncancelled;
    if (const CUresult refused = reserve(gpu, bytes); refused != kSuccess) return refused;
    Made made;
    made.bytes = bytes;
    const auto index = static_cast<std::uint32_t>(gpu);
    const CUresult result = make(made);
    if (result != kSuccess) {
        session().engine().cancel(index, bytes);
        return result;
    }
    session().engine().commit(index, kind, made.key, made.bytes, bytes);
    if (context != 0) session().engine().note_context(kind, made.key, context);
    return kSuccess;
}

}  // namespace cgpu::front
