#include "tests/programs/support/green.hpp"

#include "tests/programs/support/common.hpp"

namespace programs {

CUgreenCtx make_green(int device) {
    CUdevResource whole{};
    must(cuDeviceGetDevResource(device, &whole, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource");
    CUdevResource half{};
    unsigned int groups = 1;
    must(cuDevSmResourceSplitByCount(&half, &groups, &whole, nullptr, 0, whole.sm.smCount / 2),
         "cuDevSmResourceSplitByCount");
    CUdevResourceDesc description = nullptr;
    must(cuDevResourceGenerateDesc(&description, &half, 1), "cuDevResourceGenerateDesc");
    CUgreenCtx green = nullptr;
    must(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
    return green;
}

CUcontext context_of(CUgreenCtx green) {
    CUcontext context = nullptr;
    must(cuCtxFromGreenCtx(&context, green), "cuCtxFromGreenCtx");
    return context;
}

}  // namespace programs
