#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "daemon/app/upgrade/upgrader.hpp"
#include "tests/unit/core/upgrade/versions.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"

/// An upgrader over fakes.
namespace cgpu::app::test {

using model::Mode;
using model::Refusal;
using upgrade::Kind;
using upgrade::Version;

inline const Version kOld{0, 1, 0};
inline const Version kNew{0, 1, 1};
inline const Version kFar{0, 3, 0};
constexpr Nanos kSecond = 1'000'000'000;

struct FakeModules final : Modules {
    std::vector<upgrade::Manifest> installed{
        upgrade::manifest_of(kOld, kOld), upgrade::manifest_of(kNew, kOld), upgrade::manifest_of(kFar, kFar)};
    std::set<Version> bad;
    std::vector<upgrade::Manifest> list() override { return installed; }
    Result<upgrade::Manifest> verified(Version version) override {
        for (const auto& manifest : installed)
            if (manifest.version == version && !bad.contains(version)) return manifest;
        return model::refuse(Refusal::Reason::not_found, "module " + version.str(), "it is not installed",
                             "cgpuctl module list");
    }
};

struct FakeRecords final : RecordStore {
    upgrade::Record saved;
    bool full = false;
    Result<void> save(const upgrade::Record& record) override {
        if (full)
            return model::refuse(Refusal::Reason::storage, "state.json", "no space left on device",
                                 "free some");
        saved = record;
        return {};
    }
};

struct FakeJobs final : JobPublisher {
    std::vector<std::string> said;
    void job_changed() override { said.emplace_back("job"); }
    void job_ended(const upgrade::Ended& ended) override {
        said.push_back("ended " + std::string(to_string(ended.result)));
    }
    void module_changed() override { said.emplace_back("module"); }
    void mode_changed() override { said.emplace_back("mode"); }
    void engines_changed(const model::InstanceId&) override {}
};

struct FakeEngineControl final : EngineControl {
    std::vector<std::pair<upgrade::Switch, std::string>> orders;
    void switch_engine(const upgrade::Switch& order, const std::string& engine) override {
        orders.emplace_back(order, engine);
    }
};

struct FakeModesOfGpus final : ModesOfGpus {
    bool as_configured = true;
    std::vector<model::InstanceId> blocking;
    int taken = 0;
    bool full = false;
    [[nodiscard]] bool are_as_configured() const override { return as_configured; }
    [[nodiscard]] std::vector<model::InstanceId> in_the_way(std::optional<model::Mode>) const override {
        return blocking;
    }
    Result<void> take_configured() override {
        if (full) return model::refuse(Refusal::Reason::storage, "state.json", "no space left", "free some");
        ++taken;
        return {};
    }
};

class UpgraderTest : public testing::Test {
  protected:
    UpgraderTest() { start(); }

    void start() {
        upgrader.emplace(records.saved, kOld,
                         Upgrader::Outside{loop, modules, records, jobs,
                                           [this]() -> const model::Node::Instances& { return instances; },
                                           "boot", recorded.events});
        upgrader->set_engine_control(&engines);
        upgrader->set_modes_of_gpus(&modes);
        upgrader->resume();
    }
    static model::Node::Instances one(const char* name, model::Mode mode) {
        const auto id = *model::InstanceId::parse(name);
        model::Node::Instances made;
        made.add(model::Instance{id, name, 0, 0, mode, {}, std::nullopt});
        return made;
    }
    static upgrade::Who who(std::int32_t pid) { return {*model::InstanceId::parse("web"), {pid, 7, "boot"}}; }
    void connect(std::int32_t pid, const Version& runs) {
        upgrader->connected({who(pid), 1, kOld});
        upgrader->said({who(pid), 1, 0, wire::SwitchResult::running, runs, ""});
    }
    void answer(std::size_t order, wire::SwitchResult result) {
        const auto& [asked, path] = engines.orders.at(order);
        upgrader->said({asked.who, asked.front, asked.request, result,
                        result == wire::SwitchResult::done ? asked.to : kOld, ""});
    }
    void expect_refused(const Result<std::uint64_t>& result, Refusal::Reason reason,
                        const std::string& part) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().reason, reason) << result.error().text;
        EXPECT_NE(result.error().text.find(part), std::string::npos) << result.error().text;
        EXPECT_NE(result.error().text.find(" Try: "), std::string::npos) << result.error().text;
        EXPECT_FALSE(records.saved.job);
        EXPECT_TRUE(engines.orders.empty());
    }

    FakeLoop loop;
    FakeModules modules;
    FakeRecords records;
    FakeJobs jobs;
    RecordedEvents recorded;
    FakeEngineControl engines;
    FakeModesOfGpus modes;
    model::Node::Instances instances = one("web", model::Mode::memory_compute);
    std::optional<Upgrader> upgrader;
};

}  // namespace cgpu::app::test
