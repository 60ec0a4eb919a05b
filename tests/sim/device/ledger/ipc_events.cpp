#include "tests/sim/device/ledger/ipc_events.hpp"

#include <algorithm>

namespace simgpu {

std::optional<IpcEventId> IpcEvents::add(std::uint32_t slot) {
    IpcEvent* const end = events_ + kMaxIpcEvents;
    IpcEvent* const event = std::find_if(events_, end, [](const IpcEvent& each) { return each.serial == 0; });
    if (event == end) return std::nullopt;
    std::uint64_t& last_serial = session_.layout().ipc_event_serial;
    session_.journal().save(last_serial);
    session_.journal().save(*event);
    *event = IpcEvent{++last_serial, slot, 0, 0, 0, 0, 0};
    session_.journal().commit();
    return IpcEventId{static_cast<std::uint32_t>(event - events_), event->serial};
}

void IpcEvents::remove(const IpcEventId& id) {
    if (is_valid(id)) events_[id.index].serial = 0;
}

void IpcEvents::record(const IpcEventId& id, const Position& position, std::uint64_t client_serial) {
    if (!is_valid(id)) return;
    IpcEvent& event = events_[id.index];
    session_.journal().save(event);
    event.gpu = position.gpu;
    event.client = position.client;
    event.queue = position.queue;
    event.sequence = position.sequence;
    event.client_serial = client_serial;
    session_.journal().commit();
}

std::optional<IpcEvent> IpcEvents::read(const IpcEventId& id) const {
    if (!is_valid(id)) return std::nullopt;
    return events_[id.index];
}

bool IpcEvents::is_done(const IpcEvent& event) const {
    if (event.client_serial == 0) return true;
    const ClientState& client = session_.layout().timeline.gpus[event.gpu].clients[event.client];
    if (!client.alive || client.serial != event.client_serial) return true;
    return client.queues[event.queue].head > event.sequence;
}

bool IpcEvents::is_valid(const IpcEventId& id) const {
    return id.index < kMaxIpcEvents && id.serial != 0 && events_[id.index].serial == id.serial;
}

}  // namespace simgpu
