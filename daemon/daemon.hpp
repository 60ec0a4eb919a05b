#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "daemon/app/compute/slicer_thread.hpp"
#include "daemon/app/compute/usage_reader.hpp"
#include "daemon/app/drivers/newer_functions.hpp"
#include "daemon/app/events/doubted_reports.hpp"
#include "daemon/app/events/events.hpp"
#include "daemon/app/history/history.hpp"
#include "daemon/app/instances/unmanaged_containers.hpp"
#include "daemon/app/limits/owner_limits.hpp"
#include "daemon/app/looks/second_looks.hpp"
#include "daemon/app/memory/leases.hpp"
#include "daemon/app/ports/configuration.hpp"
#include "daemon/app/trace/traces.hpp"
#include "daemon/app/upgrade/upgrader.hpp"
#include "daemon/app/witness/compute_witness.hpp"
#include "daemon/bus/bus.hpp"
#include "daemon/config/load.hpp"
#include "daemon/gpu/driver.hpp"
#include "daemon/gpu/reader_process.hpp"
#include "daemon/histories.hpp"
#include "daemon/left_instances.hpp"
#include "daemon/link/server.hpp"
#include "daemon/modules/module_folder.hpp"
#include "daemon/people/people.hpp"
#include "daemon/store/instance_records.hpp"
#include "daemon/store/lease_file.hpp"
#include "daemon/store/queue_records.hpp"
#include "daemon/store/state_file.hpp"
#include "daemon/system/event_loop.hpp"
#include "daemon/system/log/event_log.hpp"
#include "daemon/system/memory_trim.hpp"
#include "daemon/system/processes/cut_off_watch.hpp"
#include "daemon/system/processes/processes.hpp"
#include "daemon/system/service_descriptors.hpp"
#include "daemon/system/trace_sockets.hpp"

namespace cgpu {

/// Composes cgpud: connects the rooms with each other. Each room documents its own work.
///
/// Start: the state and the leases are read, the driver is queried for the GPUs, and the instances of the
/// state are taken over, so that their processes connect while the driver still works on its answer. When
/// that has come, leases are granted, the objects are exported, and only then the bus name is taken and
/// systemd is notified. A driver that shows no GPU or doesn't answer delays nothing more: it is queried
/// again.
class Daemon {
  public:
    /// Call before the first thread is created, and so before a Daemon is.
    static void block_signals();

    /// `nvml_socket`: where systemd starts cgpu-nvml; empty: cgpud starts it itself.
    Daemon(config::Sources sources, config::Loaded configuration, std::filesystem::path nvml_socket);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    /// Runs until SIGTERM or SIGINT (returns 0), or a fatal fault (returns 1).
    int run();

  private:
    tl::expected<void, std::string> start();
    void compose(store::State state);
    void choose_module(store::State& state);
    void take_over_instances();
    void look_for_gpus();
    [[nodiscard]] app::Nanos next_look_at(app::Nanos every) const;
    void gpus_listed(const app::Result<model::SeenGpus>& seen);
    void driver_failed(const std::string& why);
    /// Looks at once, also at what unmanaged containers hold, and then calls back.
    void look_again(std::function<void()> done);
    tl::expected<void, std::string> open_to_clients();
    void reload();
    void refuse_configuration(const config::Problems& problems);
    void take_configured_mode();
    [[nodiscard]] app::Settings service_settings() const;
    [[nodiscard]] app::ConfigurationValues configuration_values() const;
    [[nodiscard]] std::string status() const;
    void tell_started();
    /// Puts the key `unmanaged` in force.
    void take_unmanaged_rule();
    void fail(const std::string& why);

    config::Sources sources_;
    config::Loaded at_start_;  ///< some values hold until cgpud ends
    config::Loaded read_;      ///< the last good configuration
    // In the order of their dependencies; destroyed in reverse order.
    system::EventLog event_log_;
    app::Events events_;
    system::EventLoop loop_;
    system::MemoryTrim memory_trim_{loop_};
    system::Processes processes_;
    system::CutOffWatch cut_off_watch_{loop_, [this](std::int32_t pid) { link_->cut_off(pid); }};
    gpu::ReaderProcess nvml_reader_;
    gpu::Driver driver_;
    store::StateFile store_;
    modules::ModuleFolder modules_;
    system::ServiceDescriptors descriptors_;
    system::TraceSockets trace_sockets_;
    std::unique_ptr<app::Traces> traces_;  ///< before those that tell events when they are destroyed
    std::unique_ptr<store::LeaseFile> lease_file_;
    std::unique_ptr<store::InstanceRecords> records_;
    std::unique_ptr<store::QueueRecords> queued_;
    std::unique_ptr<app::Leases> leases_;
    app::DoubtedReports doubted_reports_{loop_, events_};
    std::unique_ptr<app::SlicerThread> slicer_;
    std::unique_ptr<app::ComputeWitness> witness_;
    std::unique_ptr<app::UsageReader> usage_;
    Histories histories_;
    std::unique_ptr<app::History> history_;
    std::unique_ptr<bus::Bus> bus_;
    std::unique_ptr<app::Upgrader> upgrader_;
    app::NewerFunctions newer_functions_;
    std::unique_ptr<link::Server> link_;
    std::unique_ptr<app::Service> service_;
    std::unique_ptr<LeftInstances> left_;
    std::unique_ptr<app::UnmanagedContainers> unmanaged_;
    std::unique_ptr<app::SecondLooks> second_looks_;  ///< before the bus, whose calls wait for it
    // Before the bus, whose calls wait for answers.
    people::People people_{loop_, people::kProgram};
    app::OwnerLimits limits_{loop_, people_};
    std::vector<app::WatchPtr> signals_;
    app::WatchPtr next_look_;
    std::optional<std::uint64_t> refused_since_;  ///< by wall_clock()
    bool open_ = false;
    int failures_ = 0;  ///< of the driver, one after the other
};

}  // namespace cgpu
