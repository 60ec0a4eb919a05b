#pragma once

#include "module/front/driver/cuda_abi.hpp"

namespace cgpu::front {

/// Makes a context current for a scope, if it isn't.
class CurrentContext {
  public:
    explicit CurrentContext(CUcontext handle);
    ~CurrentContext();
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;
    bool ok() const { return ok_; }

  private:
    bool pushed_ = false;
    bool ok_ = true;
};

}  // namespace cgpu::front
