#pragma once

#include <compare>
#include <cstdint>
#include <tuple>

#include "core/model/instance.hpp"
#include "core/model/uuid.hpp"

namespace cgpu::app {

/// One life of an instance: the id is used again when a container is restarted.
struct InstanceKey {
    model::InstanceId id;
    std::uint64_t generation = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
    friend auto operator<=>(const InstanceKey&, const InstanceKey&) = default;
};

[[nodiscard]] inline InstanceKey key_of(const model::Instance& instance) {
    return {instance.id, instance.generation};
}

/// One instance on one GPU: the unit of a memory limit.
struct PoolKey {
    InstanceKey instance;
    model::Uuid gpu;

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
    friend auto operator<=>(const PoolKey&, const PoolKey&) = default;
};

/// That of PoolKey's own comparison, in which the pools of an instance are found by its key or its id alone.
struct PoolOrder {
    using is_transparent = void;

    bool operator()(const PoolKey& a, const PoolKey& b) const { return a < b; }
    bool operator()(const PoolKey& a, const InstanceKey& b) const { return a.instance < b; }
    bool operator()(const InstanceKey& a, const PoolKey& b) const { return a < b.instance; }
    bool operator()(const PoolKey& a, const model::InstanceId& b) const { return a.instance.id < b; }
    bool operator()(const model::InstanceId& a, const PoolKey& b) const { return a < b.instance.id; }
};

/// One process of an instance on one GPU: the unit of a lease.
struct LeaseKey {
    PoolKey pool;
    model::Process process;

    friend bool operator==(const LeaseKey&, const LeaseKey&) = default;
};

struct ProcessLess {
    bool operator()(const model::Process& a, const model::Process& b) const {
        return std::tie(a.pid, a.start_time, a.boot_id) < std::tie(b.pid, b.start_time, b.boot_id);
    }
};

}  // namespace cgpu::app
