#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/view/fields.hpp"

namespace cgpu::view {

/// A request that waits for its part of a GPU: an instance to be.
struct Queued {
    std::string id;
    std::string name;
    std::string image = {};                             ///< as Instance::image
    std::optional<std::uint32_t> owner = std::nullopt;  ///< as Instance::owner
    std::string declared_owner = {};                    ///< as Instance::declared_owner
    std::uint32_t position = 0;                         ///< from 1
    std::uint32_t pid = 0;                              ///< host pid of the process that asked for it
    std::uint64_t asked = 0;                            ///< when; seconds since 1970
    std::string asks_for;                               ///< `4GiB and 25% of the compute`
    std::string waits_for;  ///< a sentence without a full stop; empty: it isn't known yet
    bool high_priority = false;
    std::uint64_t waited = 0;  ///< nanoseconds
    /// Nanoseconds until it waits no longer; empty: it waits as long as its caller does.
    std::optional<std::uint64_t> waits_on = std::nullopt;
    /// Nanoseconds until it starts at the latest, by the time limits of what runs; empty: nobody knows.
    std::optional<std::uint64_t> starts_within = std::nullopt;
};

template <class Fields, Is<Queued> Of>
void fields(Fields& on, Of& queued) {
    on.value("position", queued.position);
    on.value("id", queued.id);
    on.value("name", queued.name);
    on.value("image", queued.image);
    on.value("owner", queued.owner);
    on.value("declared_owner", queued.declared_owner);
    on.value("pid", queued.pid);
    on.value("asked_seconds", queued.asked);
    on.value("asks_for", queued.asks_for);
    on.value("waits_for", queued.waits_for);
    on.value("high_priority", queued.high_priority);
    on.seconds("waited_seconds", queued.waited);
    on.seconds("waits_on_seconds", queued.waits_on);
    on.seconds("starts_within_seconds", queued.starts_within);
}

/// Requests that have left the queue since cgpud's start.
struct QueueTotals {
    std::uint64_t started = 0;
    std::uint64_t left = 0;    ///< without having started
    std::uint64_t waited = 0;  ///< nanoseconds, by those that started
};

template <class Fields, Is<QueueTotals> Of>
void fields(Fields& on, Of& totals) {
    on.value("queue_started", totals.started);
    on.value("queue_left", totals.left);
    on.seconds("queue_waited_seconds", totals.waited);
}

}  // namespace cgpu::view
