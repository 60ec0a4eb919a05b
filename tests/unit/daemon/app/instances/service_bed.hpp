#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "daemon/app/instances/service.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

namespace cgpu::app::test {

constexpr std::uint64_t kMib = 1 << 20;

/// A service over fakes, and one GPU to see.
class ServiceTest : public ::testing::Test {
  protected:
    ServiceTest() { start({}); }

    void start(model::Node node, std::string boot_id = "boot") {
        Settings settings;
        settings.settings_for = [this](const model::SeenGpu&) { return of_gpus; };
        service.emplace(std::move(node), settings,
                        Service::Outside{loop,
                                         store,
                                         publisher,
                                         links,
                                         processes,
                                         {compute},
                                         usage,
                                         admission,
                                         events,
                                         [this] { return wall_clock; },
                                         std::move(boot_id),
                                         nullptr,
                                         &limits,
                                         {},
                                         &queue_store,
                                         [this] { return fair ? &recent : nullptr; }});
    }

    void see_v100() {
        model::SeenGpu gpu;
        gpu.uuid = *model::Uuid::parse("GPU-00000000-0000-0000-0000-000000000001");
        gpu.model_name = "V100";
        gpu.total = model::Bytes::from_mib(16130);
        service->gpus_seen({{gpu}, {}, {}});
        v100 = gpu.uuid;
    }

    Result<Created> create(const std::string& id, const std::string& gib, bool dry_run = false) {
        processes.living.insert(100);
        return service->create_instance(
            {id,
             "job-" + id,
             {{"ALIYUN_COM_GPU_MEM_CONTAINER", gib}, {"ALIYUN_COM_GPU_MEM_DEV", "15"}},
             caller,
             {dry_run}});
    }
    Result<void> attach(const std::string& id, std::int32_t pid) {
        const auto process = service->identify(pid);
        if (!process) return tl::unexpected(process.error());
        return service->attach(id, *process, caller, {});
    }

    /// An instance with the first process 200, of which process 300 would be found, too.
    model::InstanceId attached_with_another() {
        see_v100();
        EXPECT_TRUE(create("aaaa", "4"));
        processes.living.insert({200, 300});
        EXPECT_TRUE(attach("aaaa", 200));
        auto id = *model::InstanceId::parse("aaaa");
        links.members[id] = {300, 7, "boot"};
        return id;
    }

    Caller caller{0, {100, 7, "boot"}};
    FakePeople people;
    FakeLoop loop;
    FakeStore store;
    FakeQueueStore queue_store;
    bool fair = false;
    queue::RecentUse recent;
    FakePublisher publisher;
    FakeLinks links;
    FakeProcesses processes{loop};
    FakeCompute compute;
    FakeUsage usage;
    FakeAdmissionGate admission;
    OwnerLimits limits{loop, people};
    RecordedEvents recorded;
    Events& events = recorded.events;
    std::uint64_t wall_clock = 42;  ///< seconds since 1970
    model::Uuid v100;
    model::GpuSettings of_gpus;  ///< configured
    std::optional<Service> service;
};

}  // namespace cgpu::app::test
