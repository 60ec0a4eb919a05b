#pragma once

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// Makes a context current for a scope, if it isn't.
class ContextScope {
  public:
    explicit ContextScope(CUcontext handle);
    ~ContextScope();
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;
    bool ok() const { return ok_; }

  private:
    bool pushed_ = false;
    bool ok_ = true;
};

}  // namespace cgpu::front
