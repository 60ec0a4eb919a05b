#include "module/front/driver/context_scope.hpp"

#include "module/front/driver/real_driver.hpp"

namespace cgpu::front {

ContextScope::ContextScope(CUcontext handle) {
    CUcontext current = nullptr;
    if (real::cuCtxGetCurrent(&current) == kSuccess && current == handle) return;
    pushed_ = ok_ = real::cuCtxPushCurrent_v2(handle) == kSuccess;
}

ContextScope::~ContextScope() {
    CUcontext popped = nullptr;
    if (pushed_) real::cuCtxPopCurrent_v2(&popped);
}

}  // namespace cgpu::front
