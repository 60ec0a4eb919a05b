#include "module/front/driver/hook.hpp"
#include "module/front/session/session.hpp"

using namespace cgpu::front;

CGPU_HOOK cuInit(unsigned flags) {
    const CUresult result = real::cuInit(flags);
    if (result != kSuccess || inside_driver()) return result;
    return session().start();
}
