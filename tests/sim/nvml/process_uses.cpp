#include "tests/sim/nvml/process_uses.hpp"

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/device/ledger/process_identity.hpp"

namespace simgpu {

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
    std::vector<ProcessEntry> found;
    {
        Session session(device);
        look(session);
        const Layout& layout = session.layout();
        for (std::uint32_t slot = 0; slot < layout.process_count; ++slot) {
            const ProcessEntry& process = layout.processes[slot];
            if (process.state != ProcessState::alive || process.gpus[gpu].bytes() == 0) continue;
            if (!is_listed(process.type)) continue;
            found.push_back(process);
        }
    }
    std::vector<Use> uses;
    for (const ProcessEntry& process : found) {
        const int pid = pid_seen_from_here(process);
        if (pid != 0) uses.push_back({static_cast<unsigned int>(pid), process.gpus[gpu].bytes()});
    }
    return uses;
}

}  // namespace simgpu
