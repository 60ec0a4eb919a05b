#include "client/fs/tree.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::fs {
namespace {

using cgpuctl::kMib;
using cgpuctl::kWebId;
using cgpuctl::two_gpus;
using Names = std::vector<std::string>;

const std::string kWeb = std::string("/0/") + std::string(kWebId).substr(0, 12);

int error_at(const client::Snapshot& node, const std::string& path) {
    const auto place = find_place(node, path);
    return place ? 0 : place.error();
}

/// The text of a file that is there.
std::string read(const client::Snapshot& node, const std::string& path) {
    const auto place = find_place(node, path);
    if (!place) return "no such place";
    const auto text = text_of(node, *place, 43);
    return text ? *text : "error " + std::to_string(text.error());
}

Names names_at(const client::Snapshot& node, const std::string& path) {
    const auto place = find_place(node, path);
    return place ? names_in(node, *place) : Names{};
}

TEST(ControlTree, HasTheFoldersAndFilesOfTheOldOne) {
    const auto node = two_gpus();
    EXPECT_EQ(names_at(node, "/"), (Names{"0", "1", "default_memsize", "inst_ctl", "upgrade", "version"}));
    EXPECT_EQ(names_at(node, "/0"),
              (Names{"0123456789ab", "free_weight", "major", "max_inst", "policy", "prio_ratio"}));
    EXPECT_EQ(names_at(node, "/1"), (Names{"free_weight", "major", "max_inst", "policy", "prio_ratio"}));
    EXPECT_EQ(names_at(node, kWeb), (Names{"highprio", "id", "memsize", "meminfo", "weight"}));
}

TEST(ControlTree, GivesNumbersAsTheOldOneDid) {
    auto node = two_gpus();
    node.default_memory = 1024 * kMib;
    EXPECT_EQ(read(node, "/version"), "1.2.0\n");
    EXPECT_EQ(read(node, "/default_memsize"), "1073741824\n");
    EXPECT_EQ(read(node, "/0/policy"), "2\n");
    EXPECT_EQ(read(node, "/0/max_inst"), "20\n");
    EXPECT_EQ(read(node, "/0/free_weight"), "18\n");
    EXPECT_EQ(read(node, "/0/prio_ratio"), "80\n");
    EXPECT_EQ(read(node, "/0/major"), "43\n");
    EXPECT_EQ(read(node, kWeb + "/id"), std::string(kWebId) + "\n");
    EXPECT_EQ(read(node, kWeb + "/memsize"), "4509925376\n");
    EXPECT_EQ(read(node, kWeb + "/weight"), "2\n");
    EXPECT_EQ(read(node, kWeb + "/highprio"), "0\n");
}

TEST(ControlTree, MeminfoHasTheFreeMemoryAndWhatEachProcessHolds) {
    auto node = two_gpus();
    node.instances[0].gpus[0].usage.memory_of_processes = {{4711, 150 * kMib}, {4712, 50 * kMib}};
    EXPECT_EQ(read(node, kWeb + "/meminfo"), "Free: " + std::to_string(4101 * kMib) +
                                                 "\nPID: 4711 Mem: " + std::to_string(150 * kMib) +
                                                 "\nPID: 4712 Mem: " + std::to_string(50 * kMib) + "\n");
    node.instances[0].gpus[0].usage.memory_used = 5000 * kMib;
    EXPECT_EQ(read(node, kWeb + "/meminfo").substr(0, 8), "Free: 0\n") << "never below zero";
}

TEST(ControlTree, AnInstanceHasItsIdAndTheBeginningsThatNoOtherHas) {
    auto node = two_gpus();
    EXPECT_EQ(error_at(node, std::string("/0/") + kWebId), 0);
    EXPECT_EQ(error_at(node, "/0/0123456789abcd"), 0);
    EXPECT_EQ(error_at(node, "/0/0123"), ENOENT);
    EXPECT_EQ(error_at(node, "/1/0123456789ab"), ENOENT) << "it isn't on that GPU";
    auto other = node.instances[0];
    other.id = "0123456789abffff0123456789abcdef";
    node.instances.push_back(other);
    EXPECT_EQ(error_at(node, "/0/0123456789ab"), ENOENT) << "both begin so";
    EXPECT_EQ(names_at(node, "/0")[0], kWebId);
    EXPECT_EQ(names_at(node, "/0")[1], other.id);
}

TEST(ControlTree, AnIdThatIsTheBeginningOfAnotherIsItsOwnFolder) {
    auto node = two_gpus();
    auto other = node.instances[0];
    other.id = "0123456789ab";
    other.name = kWebId;
    node.instances.push_back(other);
    EXPECT_EQ(read(node, "/0/0123456789ab/id"), "0123456789ab\n");
    EXPECT_EQ(read(node, std::string("/0/") + kWebId + "/id"), std::string(kWebId) + "\n") << "nobody's name";
    EXPECT_EQ(names_at(node, "/0")[0], kWebId);
    EXPECT_EQ(names_at(node, "/0")[1], "0123456789ab");
    node.instances[1].id = "ffff";
    EXPECT_EQ(read(node, "/0/ffff/id"), "ffff\n");
    EXPECT_EQ(error_at(node, "/0/fff"), ENOENT);
}

TEST(ControlTree, WhatIsNotThereIsNotFound) {
    auto node = two_gpus();
    EXPECT_EQ(error_at(node, "/2"), ENOENT);
    EXPECT_EQ(error_at(node, "/policy"), ENOENT);
    EXPECT_EQ(error_at(node, "/0/id"), ENOENT);
    EXPECT_EQ(error_at(node, kWeb + "/policy"), ENOENT);
    EXPECT_EQ(error_at(node, "/version/x"), ENOTDIR);
    node.gpus[1].present = false;
    EXPECT_EQ(error_at(node, "/1"), ENOENT) << "a lost GPU has no index";
}

TEST(ControlTree, UpgradeTellsTheLastJobsState) {
    auto node = two_gpus();
    EXPECT_EQ(read(node, "/upgrade"), "none\n");
    node.job = client::Job{1, "hot", "1.0.0", "1.2.0", "canary", 1, 4, "", ""};
    EXPECT_EQ(read(node, "/upgrade"), "hot 1.2.0 canary 1/4\n");
    node.job = client::Job{1, "cold", "1.0.0", "1.2.0", "ended", 1, 4, "an instance is there", "failed"};
    EXPECT_EQ(read(node, "/upgrade"), "cold 1.2.0 failed: an instance is there\n");
}

TEST(ControlTree, InstCtlCanOnlyBeWritten) {
    EXPECT_EQ(read(two_gpus(), "/inst_ctl"), "error " + std::to_string(EBADF));
}

}  // namespace
}  // namespace cgpu::fs
