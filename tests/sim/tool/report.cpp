#include "tests/sim/tool/report.hpp"

#include <vector>

#include "tests/sim/device/layout/card_text.hpp"
#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/device/ledger/process_identity.hpp"

namespace simgpu {

using Json = nlohmann::ordered_json;

namespace {

std::uint32_t living_clients(const GpuState& gpu) {
    std::uint32_t count = 0;
    for (std::uint32_t c = 0; c < gpu.client_count; ++c) count += gpu.clients[c].alive;
    return count;
}

Json use_report(const Ledger& ledger, const ProcessEntry& process, std::uint32_t slot, std::uint32_t gpu) {
    const GpuUse& use = process.gpus[gpu];
    const Nanoseconds served = ledger.served(slot, gpu);
    return {{"gpu", gpu},
            {"bytes", use.bytes()},
            {"context_bytes", use.context_bytes},
            {"module_bytes", use.module_bytes},
            {"allocated_bytes", use.allocated_bytes},
            {"peak_bytes", use.peak_bytes},
            {"gpu_us", served / 1000},
            {"gpu_ns", served}};
}

Json process_report(const Ledger& ledger, const ProcessEntry& process, std::uint32_t slot,
                    std::uint32_t gpu_count) {
    Json report = {{"pid", 0},  // filled in without the lock

                   {"own_pid", process.pid},
                   {"pid_namespace", process.pid_namespace},
                   {"start_time", process.start_time},
                   {"comm", process.comm},
                   {"serial", process.serial},
                   {"alive", process.state == ProcessState::alive},
                   {"gpus", Json::array()}};
    for (std::uint32_t gpu = 0; gpu < gpu_count; ++gpu) {
        if (process.gpus[gpu].peak_bytes > 0)
            report["gpus"].push_back(use_report(ledger, process, slot, gpu));
    }
    return report;
}

/// Everything except the pids as this process sees them: finding them may take long.
Json locked_ledger_report(Device& device, std::vector<ProcessEntry>& processes) {
    Session session(device);
    Ledger ledger(session);
    ledger.reap(kMaxProcesses);
    session.advance();
    const Layout& layout = session.layout();
    Json report = {{"now_ns", layout.timeline.now},
                   {"holders", 0},
                   {"gpus", Json::array()},
                   {"processes", Json::array()}};
    for (std::uint32_t g = 0; g < layout.gpu_count; ++g) {
        const GpuState& gpu = layout.timeline.gpus[g];
        const std::uint64_t used = ledger.used_bytes(g);
        report["gpus"].push_back({{"index", g},
                                  {"uuid", uuid_text(layout.cards[g])},
                                  {"memory_bytes", layout.cards[g].memory_bytes},
                                  {"used_bytes", used},
                                  {"unowned_bytes", layout.unowned_bytes[g]},
                                  {"free_bytes", layout.cards[g].memory_bytes - used},
                                  {"contexts", living_clients(gpu)},
                                  {"busy_us", gpu.busy.total() / 1000},
                                  {"busy_ns", gpu.busy.total()}});
    }
    int holders = 0;
    for (std::uint32_t slot = 0; slot < layout.process_count; ++slot) {
        const ProcessEntry& process = layout.processes[slot];
        if (process.state == ProcessState::free) continue;
        holders += process.state == ProcessState::alive;
        processes.push_back(process);
        report["processes"].push_back(process_report(ledger, process, slot, layout.gpu_count));
    }
    report["holders"] = holders;
    return report;
}

}  // namespace

Json gpus_report(Device& device) {
    Json gpus = Json::array();
    for (std::uint32_t g = 0; g < device.gpu_count(); ++g) {
        const Card& card = device.card(g);
        gpus.push_back({{"index", g},
                        {"uuid", uuid_text(card)},
                        {"name", card.name},
                        {"pci", pci_bus_id(card, 8)},
                        {"memory_bytes", card.memory_bytes},
                        {"reserved_bytes", card.reserved_bytes},
                        {"context_bytes", card.context_bytes}});
    }
    return gpus;
}

Json ledger_report(Device& device) {
    std::vector<ProcessEntry> processes;
    Json report = locked_ledger_report(device, processes);
    for (std::size_t i = 0; i < processes.size(); ++i) {
        report["processes"][i]["pid"] = pid_seen_from_here(processes[i]);
    }
    return report;
}

}  // namespace simgpu
