#pragma once

#include "module/front/nvml/nvml_abi.hpp"
#include "tests/unit/module/front/support/front_fixture.hpp"

/// A managed process that uses NVML.
class NvmlFront : public Front {
  protected:
    void SetUp() override {
        Front::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        nvml_ = dlopen(front_file(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(nvml_, nullptr) << dlerror();
        ASSERT_EQ(nvml<int()>("nvmlInit_v2")(), 0);  // not hooked: falls through
        for (unsigned i = 0; i < 2; ++i) {
            ASSERT_EQ((nvml<int(unsigned, cgpu::front::nvml::Device*)>("testCard")(i, &cards_[i])), 0);
        }
    }

    virtual const char* front_file() const { return CGPU_TEST_NVML_FRONT; }
    template <class Signature>
    std::function<Signature> nvml(const char* name) const {
        return reinterpret_cast<Signature*>(dlsym(nvml_, name));
    }

    void* nvml_ = nullptr;
    cgpu::front::nvml::Device cards_[2] = {};  ///< the instance's, and another's
};
