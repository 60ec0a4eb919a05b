#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "client/cgpuctl/cdi/cdi.hpp"
#include "client/cgpuctl/cdi/cdi_spec.hpp"
#include "core/request/request.hpp"
#include "tests/unit/client/support/temp_root.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

const CdiHooks kHooks{"/usr/bin/cgpu-runtime", "/run/cgpu/instances", ""};

std::vector<std::string> device_names(const CdiSpec& spec) {
    std::vector<std::string> all;
    for (const Json& device : spec.json["devices"]) all.push_back(device["name"]);
    return all;
}

const Json& edits_of(const CdiSpec& spec, const std::string& name) {
    for (const Json& device : spec.json["devices"])
        if (device["name"] == name) return device["containerEdits"];
    static const Json none;
    return none;
}

/// What the variables of a device request.
request::Request request_of(const CdiSpec& spec, const std::string& name) {
    request::Variables variables;
    for (const std::string entry : edits_of(spec, name)["env"]) {
        const auto equals = entry.find('=');
        variables[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
    const auto request = request::parse_request(variables);
    EXPECT_TRUE(request && *request) << name;
    return request && *request ? **request : request::Request{};
}

TEST(CdiSpec, HasADeviceForEachPartOfEachGpuAndForEachPart) {
    const auto spec = cdi_spec(two_gpus().gpus, kHooks);
    EXPECT_EQ(spec.json["cdiVersion"], "0.5.0");
    EXPECT_EQ(spec.json["kind"], "cgpu.org/gpu");
    EXPECT_EQ(device_names(spec),
              (std::vector<std::string>{"0-quarter", "0-half", "0-whole", "1-quarter", "1-half", "1-whole",
                                        "quarter", "half", "whole"}));
    EXPECT_TRUE(spec.left_out.empty());
}

TEST(CdiSpec, ADeviceRequestsItsPart) {
    const auto spec = cdi_spec(two_gpus().gpus, kHooks);
    const auto half = request_of(spec, "1-half");
    EXPECT_EQ(half.memory, std::vector<request::MemoryAsk>{(request::CardShare{1, 2})});
    EXPECT_EQ(half.percent, 50U);
    EXPECT_EQ(half.gpus, std::vector<request::GpuName>{*model::Uuid::parse(kUuid1)});
    const auto quarter = request_of(spec, "quarter");
    EXPECT_EQ(quarter.memory, std::vector<request::MemoryAsk>{(request::CardShare{1, 4})});
    EXPECT_EQ(quarter.percent, 25U);
    EXPECT_TRUE(quarter.gpus.empty()) << "cgpud chooses";
}

TEST(CdiSpec, HasADeviceForEachProfile) {
    const auto spec = cdi_spec(two_gpus().gpus, kHooks, {"notebook", "half"});
    EXPECT_EQ(device_names(spec).back(), "notebook");
    const auto request = request_of(spec, "notebook");
    EXPECT_EQ(request.profile, "notebook");
    EXPECT_TRUE(request.memory.empty()) << "the profile says how much";
    ASSERT_EQ(spec.left_out.size(), 1U);
    EXPECT_NE(spec.left_out[0].find("The profile half has no device"), std::string::npos);
}

TEST(CdiSpec, ItsHooksHaveAnEnvironmentOfTheirOwnAndKnowTheirDevice) {
    CdiHooks hooks = kHooks;
    hooks.bus_address = "unix:path=/bus";
    const auto spec = cdi_spec(two_gpus().gpus, hooks);
    const Json& all = edits_of(spec, "0-quarter")["hooks"];
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0]["hookName"], "createRuntime");
    EXPECT_EQ(all[0]["args"], Json({"cgpu-runtime", "hook", "cdi", "attach", "0-quarter"}));
    EXPECT_EQ(all[1]["hookName"], "createContainer");
    EXPECT_EQ(all[1]["args"],
              Json({"cgpu-runtime", "hook", "cdi", "mount", "0-quarter", "/run/cgpu/instances"}));
    for (const Json& hook : all) {
        EXPECT_EQ(hook["path"], "/usr/bin/cgpu-runtime");
        EXPECT_EQ(hook["env"].back(), "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/bus");
    }
    const auto without_bus = cdi_spec(two_gpus().gpus, kHooks);
    for (const Json& hook : edits_of(without_bus, "half")["hooks"])
        EXPECT_EQ(hook["env"].size(), 1U) << "never none: runc would give it the container's";
}

TEST(CdiSpec, WhatCantBeGrantedIsLeftOut) {
    auto gpus = two_gpus().gpus;
    gpus[0].max_inst = 10;
    gpus[1].obstacle = "MIG is on";
    auto spec = cdi_spec(gpus, kHooks);
    EXPECT_EQ(device_names(spec), (std::vector<std::string>{"0-half", "0-whole", "half", "whole"}));
    ASSERT_EQ(spec.left_out.size(), 2U);
    EXPECT_NE(spec.left_out[0].find("0-quarter is left out: 25% of 10 slices"), std::string::npos);
    EXPECT_NE(spec.left_out[1].find("GPU 1 has no device"), std::string::npos);
    gpus[0].present = gpus[1].present = false;
    spec = cdi_spec(gpus, kHooks);
    EXPECT_TRUE(device_names(spec).empty());
    EXPECT_TRUE(spec.left_out.empty());
}

/// cgpu-runtime must lie beside the test program. The file stays: tests run at the same time.
struct CdiVerbTest : VerbTest<CdiInput> {
    CdiVerbTest() {
        std::ofstream(program) << "#!/bin/sh\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    }
    [[nodiscard]] std::string written() const {
        std::ifstream file(input_.output);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::filesystem::path program =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "cgpu-runtime";
    client::TempRoot folder;
};

TEST_F(CdiVerbTest, PrintsOrWritesTheSame) {
    node_.values = {{"runtime_dir", "/run/other", "a.yaml:1", "", "", ""}};
    ASSERT_TRUE(call(&cdi));
    const Json printed = Json::parse(screen_.out.str());
    EXPECT_EQ(printed["devices"][0]["containerEdits"]["hooks"][1]["args"].back(), "/run/other/instances");
    input_.output = folder.at("/cdi/cgpu.json");
    input_.dry_run = true;
    ASSERT_TRUE(call(&cdi));
    EXPECT_FALSE(std::filesystem::exists(input_.output));
    input_.dry_run = false;
    ASSERT_TRUE(call(&cdi));
    EXPECT_EQ(Json::parse(written()), printed);
}

TEST_F(CdiVerbTest, FilesThatNoEngineReadsAreRefused) {
    for (const char* name : {"/cgpu", "/cgpu.conf", "/json"}) {
        input_.output = folder.at(name);
        const auto done = call(&cdi);
        ASSERT_FALSE(done) << name;
        EXPECT_EQ(done.error().kind, client::ClientError::Kind::usage);
        EXPECT_FALSE(std::filesystem::exists(input_.output));
    }
}

TEST_F(CdiVerbTest, ANodeWithoutGpusHasNoSpecification) {
    node_.snapshot.gpus.clear();
    input_.output = folder.at("/cgpu.json");
    EXPECT_FALSE(call(&cdi));
    EXPECT_FALSE(std::filesystem::exists(input_.output));
}

}  // namespace
}  // namespace cgpu::cgpuctl
