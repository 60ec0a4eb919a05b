#include "daemon/app/events/events.hpp"

namespace cgpu::app {

void Events::happened(Event event) {
    if (const model::Node* node = node_()) {
        if (event.instance)
            if (const auto* instance = node->find_instance(*event.instance)) {
                if (event.name.empty()) event.name = instance->name;
                set_owner(event, instance->owner);
            }
        if (event.gpu && !event.gpu_index)
            if (const auto* gpu = node->find_gpu(*event.gpu)) event.gpu_index = gpu->index;
    }
    const Stamp stamp{++number_, wall_clock_()};
    for (auto* outlet : outlets_) outlet->happened(event, stamp);
}

log::Subject Events::about(const model::InstanceId& id) const {
    const model::Node* node = node_();
    const auto* instance = node == nullptr ? nullptr : node->find_instance(id);
    return instance == nullptr ? log::Subject{.instance = id.str()} : log::about(*instance);
}

void Events::instance_known(const model::Instance& instance) {
    for (auto* outlet : outlets_) outlet->instance_known(instance);
}

void Events::instance_forgotten(const model::InstanceId& id) {
    for (auto* outlet : outlets_) outlet->instance_forgotten(id);
}

}  // namespace cgpu::app
