#include <cstdlib>

#include "module/front/driver/hook.hpp"
#include "module/front/link/unreachable.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

namespace {

/// A program that hides all GPUs from itself needs no explanation.
bool hides_all_gpus() {
    const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
    return list != nullptr && (*list == '\0' || *list == '-');
}

}  // namespace

CGPU_HOOK cuInit(unsigned flags) {
    const CUresult result = real::cuInit(flags);
    if (inside_driver()) return result;
    if (result == kNoDevice && !hides_all_gpus()) tell_unreachable(cgpu::wire::kNoDevice);
    return result == kSuccess ? session().start() : result;
}
