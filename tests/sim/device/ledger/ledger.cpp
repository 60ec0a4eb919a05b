#include "tests/sim/device/ledger/ledger.hpp"

#include <algorithm>

#include "tests/sim/device/ledger/segments.hpp"
#include "tests/sim/device/ledger/trace.hpp"

namespace simgpu {

std::uint64_t& bytes_for(GpuUse& use, Purpose purpose) {
    switch (purpose) {
        case Purpose::context:
            return use.context_bytes;
        case Purpose::module:
            return use.module_bytes;
        case Purpose::allocation:
            break;
    }
    return use.allocated_bytes;
}

std::optional<std::uint32_t> Ledger::enter(const ProcessEntry& identity) {
    reap(kMaxProcesses);
    std::uint32_t slot = layout_.process_count;
    if (slot == kMaxProcesses) {
        // Forget the process that has been gone longest.
        for (std::uint32_t s = 0; s < kMaxProcesses; ++s) {
            if (layout_.processes[s].state != ProcessState::gone) continue;
            if (slot == kMaxProcesses || layout_.processes[s].serial < layout_.processes[slot].serial)
                slot = s;
        }
        if (slot == kMaxProcesses) return std::nullopt;
    }
    session_.journal().save(layout_.process_serial);
    session_.journal().save(layout_.process_count);
    session_.journal().save(layout_.processes[slot]);
    layout_.processes[slot] = identity;
    layout_.processes[slot].serial = ++layout_.process_serial;
    layout_.processes[slot].state = ProcessState::alive;
    layout_.process_count = std::max(layout_.process_count, slot + 1);
    session_.journal().commit();
    return slot;
}

void Ledger::reap(std::uint32_t own) {
    for (std::uint32_t slot = 0; slot < layout_.process_count; ++slot) {
        if (slot == own || layout_.processes[slot].state != ProcessState::alive) continue;
        if (!session_.is_alive(slot)) bury(slot);
    }
    Segments(session_).reap();
}

void Ledger::bury(std::uint32_t slot) {
    // This comes first, because what others hold of it is charged to them from now on.
    Segments(session_).drop_all(slot);
    session_.journal().save(layout_.processes[slot]);
    session_.journal().save_timeline();
    ProcessEntry& process = layout_.processes[slot];
    process.state = ProcessState::gone;
    for (std::uint32_t g = 0; g < layout_.gpu_count; ++g) {
        GpuState& gpu = layout_.timeline.gpus[g];
        for (std::uint32_t c = 0; c < gpu.client_count; ++c) {
            if (gpu.clients[c].alive && gpu.clients[c].process == slot) close_client(g, c);
        }
        const bool held_any = process.gpus[g].bytes() > 0;
        process.gpus[g].context_bytes = 0;
        process.gpus[g].module_bytes = 0;
        process.gpus[g].allocated_bytes = 0;
        if (held_any) Trace(session_).note(slot, g);
    }
    for (MemoryWord& word : layout_.timeline.words) {
        if (word.taken_by == slot + 1) word.taken_by = 0;
    }
    for (IpcEvent& event : layout_.ipc_events) {
        if (event.serial != 0 && event.owner == slot) event.serial = 0;
    }
    session_.journal().commit();
}

std::optional<std::uint32_t> Ledger::add_word(std::uint32_t slot, std::uint32_t bytes, std::uint64_t value) {
    TimelineState& timeline = layout_.timeline;
    MemoryWord* const end = timeline.words + kMaxWords;
    MemoryWord* const word =
        std::find_if(timeline.words, end, [](const MemoryWord& each) { return each.taken_by == 0; });
    if (word == end) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(word - timeline.words);
    session_.journal().save(timeline.word_count);
    session_.journal().save(*word);
    *word = MemoryWord{slot + 1, bytes, value};
    timeline.word_count = std::max(timeline.word_count, index + 1);
    session_.journal().commit();
    return index;
}

void Ledger::remove_word(std::uint32_t index) { layout_.timeline.words[index].taken_by = 0; }

bool Ledger::charge(std::uint32_t slot, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes) {
    const std::uint64_t total = layout_.cards[gpu].memory_bytes;
    const auto fits = [&] { return bytes <= total && used_bytes(gpu) <= total - bytes; };
    if (!fits()) reap(slot);
    if (!fits()) return false;
    GpuUse& use = layout_.processes[slot].gpus[gpu];
    session_.journal().save(use);
    bytes_for(use, purpose) += bytes;
    use.peak_bytes = std::max(use.peak_bytes, use.bytes());
    Trace(session_).note(slot, gpu);
    session_.journal().commit();
    return true;
}

void Ledger::refund(std::uint32_t slot, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes) {
    GpuUse& use = layout_.processes[slot].gpus[gpu];
    session_.journal().save(use);
    bytes_for(use, purpose) -= bytes;
    Trace(session_).note(slot, gpu);
    session_.journal().commit();
}

std::optional<std::uint32_t> Ledger::add_client(std::uint32_t slot, std::uint32_t gpu_index) {
    TimelineState& timeline = layout_.timeline;
    GpuState& gpu = timeline.gpus[gpu_index];
    const auto free_client = [&] {
        return static_cast<std::uint32_t>(std::find_if(gpu.clients, gpu.clients + gpu.client_count,
                                                       [](const ClientState& c) { return !c.alive; }) -
                                          gpu.clients);
    };
    std::uint32_t client = free_client();
    if (client == kMaxClients) {
        reap(slot);
        client = free_client();
    }
    if (client == kMaxClients) return std::nullopt;
    session_.journal().save(timeline.serial);
    session_.journal().save(gpu.client_count);
    session_.journal().save(gpu.clients[client]);
    gpu.clients[client] = ClientState{};
    gpu.clients[client].alive = 1;
    gpu.clients[client].process = slot;
    gpu.clients[client].serial = ++timeline.serial;
    gpu.client_count = std::max(gpu.client_count, client + 1);
    session_.journal().commit();
    return client;
}

void Ledger::remove_client(std::uint32_t gpu, std::uint32_t client) {
    session_.journal().save(layout_.processes[layout_.timeline.gpus[gpu].clients[client].process]);
    session_.journal().save_timeline();
    close_client(gpu, client);
    session_.journal().commit();
}

void Ledger::close_client(std::uint32_t g, std::uint32_t c) {
    GpuState& gpu = layout_.timeline.gpus[g];
    ClientState& client = gpu.clients[c];
    layout_.processes[client.process].gpus[g].served += client.served.total();
    client.alive = 0;
    if (gpu.active == static_cast<std::int32_t>(c)) gpu.active = -1;
}

void Ledger::add_queue(std::uint32_t gpu, std::uint32_t client) {
    ClientState& state = layout_.timeline.gpus[gpu].clients[client];
    session_.rings().at(gpu, client, state.queue_count).tail.store(0, std::memory_order_release);
    session_.journal().save(state);
    state.queues[state.queue_count] = QueueState{};
    ++state.queue_count;
    session_.journal().commit();
}

std::uint64_t Ledger::used_bytes(std::uint32_t gpu) const {
    std::uint64_t sum = layout_.unowned_bytes[gpu];
    for (std::uint32_t slot = 0; slot < layout_.process_count; ++slot) {
        if (layout_.processes[slot].state == ProcessState::alive)
            sum += layout_.processes[slot].gpus[gpu].bytes();
    }
    return sum;
}

Nanoseconds Ledger::served(std::uint32_t slot, std::uint32_t g) const {
    Nanoseconds sum = layout_.processes[slot].gpus[g].served;
    const GpuState& gpu = layout_.timeline.gpus[g];
    for (std::uint32_t c = 0; c < gpu.client_count; ++c) {
        if (gpu.clients[c].alive && gpu.clients[c].process == slot) sum += gpu.clients[c].served.total();
    }
    return sum;
}

}  // namespace simgpu
