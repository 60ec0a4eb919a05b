#include "daemon/bus/objects.hpp"

#include <utility>

namespace cgpu::bus {

Objects::Objects(sdbus::IConnection& connection, app::Service& service, Versions versions)
    : connection_(connection), service_(service), manager_(connection, service, std::move(versions)) {
    refresh_gpus();
    for (const auto& [id, instance] : service_.node().instances()) refresh(id);
}

void Objects::refresh_gpus() {
    const model::Node& node = service_.node();
    // GPUs are never forgotten by the node, so none is taken away here.
    for (const model::Gpu& gpu : node.gpus()) {
        const auto known = gpus_.find(gpu.uuid);
        if (known != gpus_.end())
            known->second.update(view_of(node, gpu));
        else
            gpus_.try_emplace(gpu.uuid, connection_, service_, gpu.uuid, view_of(node, gpu))
                .first->second.announce();
    }
}

void Objects::refresh(const model::InstanceId& id) {
    const model::Node& node = service_.node();
    const model::Instance* instance = node.find_instance(id);
    const auto known = instances_.find(id);
    if (instance == nullptr) {
        if (known == instances_.end()) return;
        known->second.announce_removal();
        instances_.erase(known);
    } else if (known != instances_.end()) {
        known->second.update(view_of(node, *instance));
    } else {
        instances_.try_emplace(id, connection_, service_, id, view_of(node, *instance))
            .first->second.announce();
    }
}

}  // namespace cgpu::bus
