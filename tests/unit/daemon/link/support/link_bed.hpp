#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "daemon/link/server.hpp"
#include "daemon/store/lease_file.hpp"
#include "daemon/system/processes/processes.hpp"
#include "tests/unit/daemon/link/support/link_puppet.hpp"

namespace cgpu::link::test {

constexpr std::uint64_t kMiB = 1ull << 20;

/// Reports which processes hold memory as the test sets it; answers through the loop.
struct BedGpus final : app::Gpus {
    explicit BedGpus(PollLoop& its_loop) : loop(its_loop) {}
    PollLoop& loop;
    std::map<std::int32_t, std::uint64_t> shown;
    std::optional<std::uint64_t> used;  ///< of the GPU, if the driver says it
    void list(std::function<void(app::Result<model::SeenGpus>)> call) override { call({}); }
    void processes(const model::Uuid&, std::function<void(app::Result<app::DriverFigures>)> call) override {
        loop.post([this, call] {
            app::DriverFigures figures{.processes = {}, .used_before = used, .used_after = used};
            for (const auto& [pid, bytes] : shown) figures.processes.push_back({pid, bytes});
            call(figures);
        });
    }
};

struct BedDivider final : app::ComputeDivider {
    std::map<std::int32_t, std::shared_ptr<app::ProcessPages>> pages;
    std::map<model::InstanceId, std::shared_ptr<const app::InstanceDoorbell>> doorbells;
    int added = 0;
    int removed = 0;
    void doorbell_added(const model::InstanceId& id,
                        std::shared_ptr<const app::InstanceDoorbell> its) override {
        doorbells[id] = its;
    }
    void process_added(const model::InstanceId&, std::shared_ptr<app::ProcessPages> its) override {
        ++added;
        EXPECT_EQ(its->orders->gates[0].state.load(), static_cast<std::uint32_t>(wire::GateState::closed));
        pages[its->process.pid] = its;
    }
    void process_removed(const model::InstanceId&, const model::Process& process) override {
        ++removed;
        pages.erase(process.pid);
    }
};

/// Records the reports that it receives; names one engine.
struct BedEngines final : app::EngineWatch {
    app::EngineControl* fronts = nullptr;
    std::vector<upgrade::Known> were_known;
    std::vector<upgrade::Connected> came;
    std::vector<upgrade::Lost> went;
    std::vector<upgrade::Gone> ended;
    std::vector<upgrade::Said> words;
    std::string engine = "0.1.0/libcgpu-engine.so.0.1.0";

    void set_engine_control(app::EngineControl* engines) override { fronts = engines; }
    std::string engine_for_new() const override { return engine; }
    void known(const upgrade::Known& process) override { were_known.push_back(process); }
    void connected(const upgrade::Connected& front) override { came.push_back(front); }
    void lost(const upgrade::Lost& front) override { went.push_back(front); }
    void gone(const upgrade::Gone& process) override { ended.push_back(process); }
    void said(const upgrade::Said& said) override { words.push_back(said); }
};

/// Keeps descriptors over a restart, as systemd does.
struct BedDescriptors final : app::DescriptorStore {
    std::map<std::string, int> kept;
    ~BedDescriptors() override {
        for (const auto& [name, fd] : kept) close(fd);
    }
    void keep(const std::string& name, int fd) override { kept[name] = dup(fd); }
    void forget(const std::string& name) override {
        if (const auto found = kept.find(name); found != kept.end()) {
            close(found->second);
            kept.erase(found);
        }
    }
    int take(const std::string& name) override {
        const auto found = kept.find(name);
        return found == kept.end() ? -1 : dup(found->second);
    }
};

/// Counts how often a driver's symbols were read.
struct BedDrivers final : app::DriverWatch {
    std::map<app::DriverFileId, std::string> paths;
    std::vector<std::string> newer;
    bool knows(const app::DriverFileId& file) const override { return paths.contains(file); }
    void was_read(const app::DriverFileId& file, const std::string& path,
                  const std::vector<std::string>& names) override {
        EXPECT_TRUE(paths.emplace(file, path).second) << "it was read again";
        newer.insert(newer.end(), names.begin(), names.end());
    }
};

/// A daemon's link and leases with real sockets, processes and lease file, and the instance "one" (and "two")
/// on it.
class LinkTest : public testing::Test {
  protected:
    LinkTest() {
        std::string name = (std::filesystem::temp_directory_path() / "link_XXXXXX").string();
        runtime_dir = mkdtemp(name.data());
        settings.runtime_dir = runtime_dir;
        one = make("one", 100 * kMiB);
        two = make("two", 100 * kMiB);
        start();
    }
    ~LinkTest() override {
        stop();
        std::filesystem::remove_all(runtime_dir);
    }

    /// The puppets, which are children of the test, belong to the instance.
    model::Instance make(const char* id, std::uint64_t limit) {
        model::Instance made{.id = *model::InstanceId::parse(id),
                             .name = {},
                             .generation = 5,
                             .quotas = {},
                             .attached = *processes.identify(getpid())};
        made.quotas.push_back({.gpu = model::Uuid(model::Uuid::Raw{1}), .memory_limit = model::Bytes(limit)});
        return made;
    }

    /// Starts a daemon, as after a restart.
    void start() {
        auto opened = store::LeaseFile::open(runtime_dir / "leases");
        ASSERT_TRUE(opened) << opened.error().text;
        file = std::move(*opened);
        leases = std::make_unique<app::Leases>(app::Leases::Outside{loop, processes, gpus, *file, events});
        server = std::make_unique<Server>(
            Outside{loop, processes, divider, *leases, engines, descriptors, drivers, events,
                    [](const model::Uuid&) { return model::Bytes(512 * kMiB); },
                    [this](const model::Process& process) { return processes.pid_place(process); },
                    [this](const model::InstanceId& id) { idle.insert(id); },
                    [this](const model::InstanceId& id, const model::Uuid&) {
                        return id == one.id ? share : std::nullopt;
                    }},
            settings);
        for (const auto* instance : {&one, &two}) {
            const auto folder = server->open(*instance);
            ASSERT_TRUE(folder) << folder.error().text;
        }
        leases->drop_rest();
        server->forget_unknown({one.id, two.id});
    }
    void stop() {
        server.reset();
        leases.reset();
        file.reset();
    }

    std::string socket(const model::Instance& instance) const {
        return (runtime_dir / "instances" / instance.id.str() / "link" / "socket").string();
    }
    std::uint64_t leased(const model::Instance& instance) const {
        return leases->pools().leased(instance.id, instance.quotas[0].gpu);
    }

    PollLoop loop;
    system::Processes processes{loop};
    BedGpus gpus{loop};
    BedDivider divider;
    BedEngines engines;
    BedDescriptors descriptors;
    BedDrivers drivers;
    app::Events events;
    Settings settings;
    std::filesystem::path runtime_dir;
    model::Instance one{make("one", 0)};
    model::Instance two{make("two", 0)};
    std::set<model::InstanceId> idle;
    std::optional<double> share;  ///< of the GPU's time: instance one's
    std::unique_ptr<store::LeaseFile> file;
    std::unique_ptr<app::Leases> leases;
    std::unique_ptr<Server> server;
};

}  // namespace cgpu::link::test
