#include "daemon/bus/usage/caller_usage.hpp"

namespace cgpu::bus {

CallerUsage::Node CallerUsage::of_node(const sdbus::IObject& object) {
    if (is_root(object)) return {service_.usage(), 0};
    const auto shared = shared_.usage();
    return {shared.usage, shared.age};
}

}  // namespace cgpu::bus
