// The driver's other functions that make contexts, for OpenGL and VDPAU.
#include "tests/unit/module/front/support/front_driver.hpp"

struct Context;
API cuCtxCreate_v2(Context** context, unsigned flags, int device);

API cuGLCtxCreate(Context** context, unsigned flags, int device) {
    return cuCtxCreate_v2(context, flags, device);
}
API cuVDPAUCtxCreate(Context** context, unsigned flags, int device, unsigned, void*) {
    return cuCtxCreate_v2(context, flags, device);
}
API cuVDPAUCtxCreate_v2(Context** context, unsigned flags, int device, unsigned, void*) {
    return cuCtxCreate_v2(context, flags, device);
}
