#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/app/compute/doorbell_filter.hpp"
#include "daemon/app/compute/gangs.hpp"
#include "daemon/app/ports/tracing.hpp"

namespace cgpu::app {

/// Divides compute: the thread that opens and closes the gates of all GPUs. It sleeps on the doorbells of all
/// instances until one rings or time changes something; when nothing runs, it doesn't run.
///
/// The event-loop thread changes instances, processes and policies under a mutex that a step holds, too: a
/// step takes microseconds, and never waits for anything while holding the mutex.
class SlicerThread final : public NodeFollower,
                           public ComputeDivider,
                           public TracedCompute,
                           public ReportSource {
  public:
    struct Timing {
        Nanos slice;  ///< length of a slice (configuration)
        Nanos hold;   ///< how long a closed gate holds without being renewed
    };

    /// Called by the slicer's thread, with its lock held: a report of this process (host pid) can't be true.
    using Doubted =
        std::function<void(const model::InstanceId&, const model::Uuid& gpu, std::int32_t process)>;

    explicit SlicerThread(Timing timing, Doubted doubted = {});
    ~SlicerThread() override;
    SlicerThread(const SlicerThread&) = delete;
    SlicerThread& operator=(const SlicerThread&) = delete;

    void update(const model::Node& node) override;
    void doorbell_added(const model::InstanceId& id,
                        std::shared_ptr<const InstanceDoorbell> doorbell) override;
    void process_added(const model::InstanceId& id, std::shared_ptr<ProcessPages> pages) override;
    void process_removed(const model::InstanceId& id, const model::Process& process) override;

    void fill_usage(const model::InstanceId& id, const model::Uuid& gpu, InstanceUsage& usage);
    /// The instance's processes that are connected for this GPU.
    [[nodiscard]] std::vector<model::Process> members(const model::InstanceId& id, const model::Uuid& gpu);

    [[nodiscard]] std::map<model::Uuid, ComputeReports> reports() override;

    bool begin_trace(const model::Uuid& gpu, trace::Record start) override;
    void note(const model::Uuid& gpu, trace::Record record,
              const std::optional<model::InstanceId>& instance) override;
    void take_trace(const model::Uuid& gpu, std::vector<trace::Record>& empty) override;
    void end_trace(const model::Uuid& gpu, Nanos cost, std::vector<trace::Record>& empty) override;

    /// How often it has been awake so far: its steps, and the wakes of its helper threads. If the number
    /// doesn't change, the thread costs nothing.
    [[nodiscard]] std::uint64_t wakes();

  private:
    struct Instance {
        std::vector<model::Uuid> gpus;  ///< in the order of its orders
        std::shared_ptr<const InstanceDoorbell> doorbell;
    };

    void run();
    [[nodiscard]] GpuGates* gates_of(const model::Uuid& gpu);
    void poke();
    /// True: the doorbells and their places are others now.
    bool update_instances(const model::Node& node);
    void gather_doorbells();
    void tell_doubted();

    Timing timing_;
    Doubted doubted_;
    std::mutex mutex_;
    model::Node seen_;  ///< the one of the last update
    Gangs::Gpus gpus_;
    Gangs gangs_;
    std::map<model::InstanceId, Instance> instances_;
    bool changed_ = true;  ///< since the doorbells were gathered
    std::uint64_t steps_ = 0;
    std::atomic<std::uint32_t> poked_{0};
    DoorbellFilter doorbells_{poked_};  ///< the thread's own: it sleeps on them without the mutex
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

}  // namespace cgpu::app
