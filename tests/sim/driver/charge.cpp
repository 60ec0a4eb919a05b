#include "tests/sim/driver/charge.hpp"

#include "tests/sim/device/ledger.hpp"
#include "tests/sim/driver/runtime.hpp"

namespace simgpu {

bool charge(Runtime& runtime, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes) {
    Session session(runtime.device());
    return Ledger(session).charge(runtime.slot(), gpu, purpose, bytes);
}

void refund(Runtime& runtime, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes) {
    Session session(runtime.device());
    Ledger(session).refund(runtime.slot(), gpu, purpose, bytes);
}

bool charge(Runtime& runtime, std::uint32_t gpu, std::uint64_t bytes) {
    return charge(runtime, gpu, Purpose::allocation, bytes);
}

void refund(Runtime& runtime, std::uint32_t gpu, std::uint64_t bytes) {
    refund(runtime, gpu, Purpose::allocation, bytes);
}

}  // namespace simgpu
