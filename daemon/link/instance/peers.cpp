#include "daemon/link/instance/peers.hpp"

#include <utility>

namespace cgpu::link {

Peers::Peers(model::InstanceId id, const Outside& outside, std::function<void(const model::Process&)> ended)
    : id_(std::move(id)), outside_(outside), ended_(std::move(ended)) {}

Peers::~Peers() {
    for (const auto& [process, peer] : peers_)
        if (peer.pages) outside_.divider.process_removed(id_, process);
}

const Peers::Peer* Peers::find(const model::Process& process) const {
    const auto found = peers_.find(process);
    return found == peers_.end() ? nullptr : &found->second;
}

std::shared_ptr<Connection> Peers::connection_of(const model::Process& process) const {
    const Peer* peer = find(process);
    auto connection = peer == nullptr ? nullptr : peer->connection.lock();
    return connection && connection->usable() ? connection : nullptr;
}

Peers::Peer& Peers::enter(const model::Process& process) {
    auto& peer = peers_[process];
    if (!peer.exit) peer.exit = outside_.processes.on_exit(process, [this, process] { ended_(process); });
    return peer;
}

void Peers::set_pages(const model::Process& process, std::shared_ptr<Pages> pages) {
    auto& peer = enter(process);
    if (peer.pages) outside_.divider.process_removed(id_, process);
    peer.pages = std::move(pages);
    outside_.divider.process_added(id_, peer.pages);
}

void Peers::remove(const model::Process& process) {
    const auto found = peers_.find(process);
    if (found == peers_.end()) return;
    if (found->second.pages) outside_.divider.process_removed(id_, process);
    peers_.erase(found);
}

app::PidPlace Peers::place_of(const model::Process& process) {
    const auto found = peers_.find(process);
    if (found == peers_.end()) return outside_.pid_place(process);
    auto& place = found->second.place;
    if (place.pids.empty()) place = outside_.pid_place(process);
    return place;
}

}  // namespace cgpu::link
