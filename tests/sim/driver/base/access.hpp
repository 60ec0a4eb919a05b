#pragma once

#include <array>
#include <cstdint>

#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/model/limits.hpp"

namespace simgpu {

/// Which GPUs of this process, by ordinal, may read and write some memory, and whether the host may.
class Access {
  public:
    /// All of them, for memory that CUDA returns accessible.
    static Access everybody() {
        Access access;
        access.flags_.fill(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        return access;
    }

    CUmemAccess_flags of(std::uint32_t ordinal) const { return flags_[ordinal]; }
    CUmemAccess_flags of_host() const { return flags_[kMaxGpus]; }
    void set(std::uint32_t ordinal, CUmemAccess_flags flags) { flags_[ordinal] = flags; }
    void set_host(CUmemAccess_flags flags) { flags_[kMaxGpus] = flags; }

    bool allows(std::uint32_t ordinal, CUmemAccess_flags wanted) const {
        return (flags_[ordinal] & wanted) == wanted;
    }

  private:
    std::array<CUmemAccess_flags, kMaxGpus + 1> flags_{};
};

}  // namespace simgpu
