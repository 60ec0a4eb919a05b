#include "tests/sim/driver/base/process.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "tests/sim/device/file/device_path.hpp"
#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/device/ledger/process_identity.hpp"

namespace simgpu {

Process::Process(std::unique_ptr<Device> device, std::vector<std::uint32_t> visible)
    : device_(std::move(device)), visible_(std::move(visible)) {}

CUresult Process::enter() {
    if (alive_.open(device_path()) != 0) return CUDA_ERROR_NO_DEVICE;
    // The mapping keeps the lock when the program closes all descriptors, and in a forked child.
    if (mmap(nullptr, 4096, PROT_READ, MAP_SHARED, alive_.descriptor(), 0) == MAP_FAILED)
        return CUDA_ERROR_OPERATING_SYSTEM;
    const ProcessEntry identity = own_identity();
    Session session(*device_);
    const auto slot = Ledger(session).enter(identity);
    if (!slot || !alive_.try_lock(kAliveLock + *slot)) return CUDA_ERROR_OPERATING_SYSTEM;
    slot_ = *slot;
    return CUDA_SUCCESS;
}

std::optional<std::uint32_t> Process::ordinal_of(std::uint32_t gpu) const {
    const auto found = std::find(visible_.begin(), visible_.end(), gpu);
    if (found == visible_.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - visible_.begin());
}

}  // namespace simgpu
