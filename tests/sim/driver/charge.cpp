#include "tests/sim/driver/charge.hpp"

#include "tests/sim/device/ledger.hpp"
#include "tests/sim/driver/runtime.hpp"

namespace simgpu {

bool charge(Runtime& runtime, std::uint32_t gpu, std::uint64_t bytes) {
    Session session(runtime.device());
    return Ledger(session).charge(runtime.slot(), gpu, Purpose::allocation, bytes);
}

void refund(Runtime& runtime, std::uint32_t gpu, std::uint64_t bytes) {
    Session session(runtime.device());
    Ledger(session).refund(runtime.slot(), gpu, Purpose::allocation, bytes);
}

}  // namespace simgpu
