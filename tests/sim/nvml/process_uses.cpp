#include "tests/sim/nvml/process_uses.hpp"

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/device/ledger/process_identity.hpp"

namespace simgpu {

unsigned int percent(Nanoseconds busy) { return static_cast<unsigned int>(busy / 10'000'000); }

void look(Session& session) {
    Ledger(session).reap(kMaxProcesses);
    session.advance();
}

bool in_any_list(ProcessType) { return true; }
bool in_compute_list(ProcessType type) {
    return type == ProcessType::compute || type == ProcessType::compute_and_graphics;
}
bool in_graphics_list(ProcessType type) {
    return type == ProcessType::graphics || type == ProcessType::compute_and_graphics;
}
bool in_mps_list(ProcessType type) { return type == ProcessType::mps; }

std::vector<Use> uses_of(Device& device, std::uint32_t gpu, IsListed is_listed) {
    struct Found {
        ProcessEntry process;
        Nanoseconds busy;
    };
    std::vector<Found> found;
    {
        Session session(device);
        look(session);
        const Ledger ledger(session);
        const Layout& layout = session.layout();
        for (std::uint32_t slot = 0; slot < layout.process_count; ++slot) {
            const ProcessEntry& process = layout.processes[slot];
            if (process.state != ProcessState::alive || process.gpus[gpu].bytes() == 0) continue;
            if (!is_listed(process.type)) continue;
            found.push_back({process, ledger.served_last_second(slot, gpu)});
        }
    }
    std::vector<Use> uses;
    for (const Found& entry : found) {
        const int pid = pid_seen_from_here(entry.process);
        if (pid == 0) continue;
        uses.push_back(
            {static_cast<unsigned int>(pid), entry.process.gpus[gpu].bytes(), percent(entry.busy)});
    }
    return uses;
}

}  // namespace simgpu
