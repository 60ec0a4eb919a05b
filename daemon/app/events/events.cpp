#include "daemon/app/events/events.hpp"

namespace cgpu::app {

void Events::happened(Event event) {
    if (const model::Node* node = node_()) {
        if (event.instance && event.name.empty())
            if (const auto* instance = node->find_instance(*event.instance)) event.name = instance->name;
        if (event.gpu && !event.gpu_index)
            if (const auto* gpu = node->find_gpu(*event.gpu)) event.gpu_index = gpu->index;
    }
    const Stamp stamp{++number_, wall_clock_()};
    for (auto* outlet : outlets_) outlet->happened(event, stamp);
}

}  // namespace cgpu::app
