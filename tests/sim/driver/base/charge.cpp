#include "tests/sim/driver/base/charge.hpp"

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/driver/base/process.hpp"

namespace simgpu {

bool charge(const Process& process, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes) {
    Session session(process.device());
    return Ledger(session).charge(process.slot(), gpu, purpose, bytes);
}

void refund(const Process& process, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes) {
    Session session(process.device());
    Ledger(session).refund(process.slot(), gpu, purpose, bytes);
}

bool charge(const Process& process, std::uint32_t gpu, std::uint64_t bytes) {
    return charge(process, gpu, Purpose::allocation, bytes);
}

void refund(const Process& process, std::uint32_t gpu, std::uint64_t bytes) {
    refund(process, gpu, Purpose::allocation, bytes);
}

}  // namespace simgpu
