#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "daemon/app/events/events.hpp"
#include "daemon/app/memory/leases.hpp"
#include "daemon/app/ports/descriptor_store.hpp"
#include "daemon/app/ports/driver_watch.hpp"
#include "daemon/app/ports/pages.hpp"
#include "daemon/app/ports/pid_place.hpp"
#include "daemon/app/ports/upgrade/engines.hpp"

namespace cgpu::link {

struct Settings {
    std::filesystem::path
        runtime_dir;  ///< e.g. /run/cgpu; sockets lie in instances/<id>/link/socket below it
    wire::OnLoss on_loss = wire::OnLoss::open;
    app::Nanos hold = app::kSecond;  ///< how long a closed gate holds without being renewed
    app::Nanos hello_deadline = 5'000'000'000;
    std::size_t max_processes = 1024;     ///< of one instance that compute
    std::size_t max_connections = 4;      ///< of one process
    std::size_t max_strangers = 256;      ///< connections to one instance that haven't said Hello yet
    std::size_t max_waiting_asks = 64;    ///< of one connection
    std::size_t max_descriptors = 65536;  ///< of all instances together
};

/// What the room needs from the outside.
struct Outside {
    app::Loop& loop;
    app::Processes& processes;
    app::ComputeDivider& divider;
    app::Leases& leases;
    app::EngineWatch& engines;
    app::DescriptorStore& descriptors;
    app::DriverWatch& drivers;
    app::Events& events;
    /// The memory that can be allocated on the card; zero if the card is unknown.
    std::function<model::Bytes(const model::Uuid&)> gpu_total;
    /// Empty if the process has ended.
    std::function<app::PidPlace(const model::Process&)> pid_place;
    /// No living process uses the instance's socket any more, and none holds memory. Called on the loop,
    /// later.
    std::function<void(const model::InstanceId&)> on_idle;
    /// The share of the GPU's time that the instance has had lately, 0..1; empty if it isn't measured.
    std::function<std::optional<double>(const model::InstanceId&, const model::Uuid&)> achieved_share;
};

}  // namespace cgpu::link
