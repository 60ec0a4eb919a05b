#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/view/fields.hpp"

namespace cgpu::view {

/// A limit that holds for somebody, with what is in use of it.
struct Limit {
    std::string name;  ///< as the configuration's: memory_per_gpu
    std::optional<std::uint32_t> gpu_index =
        std::nullopt;  ///< of a limit for each GPU, where something is in use
    std::string unit;  ///< instances, gpus, bytes, percent, seconds, or truth (0 or 1)
    std::optional<std::uint64_t> most = std::nullopt;  ///< empty: unlimited
    std::uint64_t used = 0;
    std::string key;  ///< of the configuration: limits.users.alice.memory
};

template <class Fields, Is<Limit> Of>
void fields(Fields& on, Of& limit) {
    on.value("limit", limit.name);
    on.value("gpu", limit.gpu_index);
    on.value("unit", limit.unit);
    on.value("most", limit.most);
    on.value("used", limit.used);
    on.value("key", limit.key);
}

/// The limits of one holder.
struct Limits {
    std::string holder;                 ///< for people: a name, or what it is
    std::optional<std::uint32_t> user;  ///< its user id; empty: it is no unix user
    std::vector<Limit> limits;
    std::vector<std::string> instances;  ///< those in use, for people: `train (4GiB)`
};

template <class Fields, Is<Limits> Of>
void fields(Fields& on, Of& limits) {
    on.value("holder", limits.holder);
    on.value("user", limits.user);
    on.list("limits", limits.limits);
    on.value("instances", limits.instances);
}

}  // namespace cgpu::view
