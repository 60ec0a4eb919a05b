#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "client/cgpuctl/smi/reading.hpp"
#include "client/cgpuctl/top/base/key.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::cgpuctl::top {

/// The reading of a node after this many seconds.
inline smi::Reading reading_at(const client::Snapshot& snapshot, int seconds) {
    return {{snapshot, 1700000000U + static_cast<std::uint64_t>(seconds), std::nullopt},
            std::chrono::steady_clock::time_point(std::chrono::seconds(seconds))};
}

/// Adds an instance on one GPU of the snapshot, as `web` is.
inline client::Instance& add_instance(client::Snapshot& snapshot, const std::string& id,
                                      const std::string& name, std::uint32_t gpu) {
    client::Instance instance = snapshot.instances.front();
    instance.id = id;
    instance.name = name;
    instance.gpus.front().quota.gpu = gpu == 0 ? kUuid0 : kUuid1;
    instance.gpus.front().quota.gpu_index = gpu;
    snapshot.instances.push_back(instance);
    return snapshot.instances.back();
}

inline Key letter(const std::string& text) { return {Key::Kind::text, text}; }

}  // namespace cgpu::cgpuctl::top
