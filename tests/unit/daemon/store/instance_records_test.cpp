#include "daemon/store/instance_records.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/unit/daemon/store/saved_nodes.hpp"
#include "tests/unit/daemon/support/not_files.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

/// The records of instances that a state may not have.
namespace cgpu::store {
namespace {

namespace fs = std::filesystem;
using namespace cgpu::test;
using model::Node;

const std::string kBoot = "5f3a-boot";

model::InstanceId id(const char* text) { return *model::InstanceId::parse(text); }

struct InstanceRecordsTest : ::testing::Test {
    InstanceRecordsTest() {
        for (const char* each : {"a1", "b1"}) {
            EXPECT_TRUE(node.add_instance(instance(each, {quota(0, 1)})));
            EXPECT_TRUE(node.attach(id(each), {4242, 1, kBoot}));
        }
    }
    std::vector<std::string> left(const std::string& boot = kBoot) const {
        std::vector<std::string> ids;
        for (const auto& each : InstanceRecords(path).left(boot)) ids.push_back(each.instance.id.str());
        return ids;
    }
    using Ids = std::vector<std::string>;

    TempFolder folder;
    fs::path path = folder / "admitted";
    Node node = v100();
};

TEST_F(InstanceRecordsTest, WhatIsWrittenIsLeftForTheNextDaemonOfThisBoot) {
    ASSERT_TRUE(node.add_instance(instance("c1", {quota(0, 1)}))) << "without a process there is no record";
    InstanceRecords(path).update(node);
    const auto found = InstanceRecords(path).left(kBoot);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].instance, *node.find_instance(id("a1")));
    EXPECT_EQ(found[0].generation, node.generation());
    EXPECT_EQ(found[1].instance, *node.find_instance(id("b1")));
    EXPECT_EQ(left("another"), Ids{});
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(InstanceRecordsTest, FollowsWhatChangesAndEnds) {
    InstanceRecords records(path);
    records.update(node);
    const auto time = [&](const char* each) {
        return fs::last_write_time(path / (std::string(each) + ".json"));
    };
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const char* each : {"a1", "b1"}) fs::last_write_time(path / (std::string(each) + ".json"), old);
    ASSERT_TRUE(node.set_weight(id("a1"), uuid(0), 3));
    records.update(node);
    EXPECT_EQ(records.left(kBoot).at(0).instance.quotas.at(0).weight, 3U);
    EXPECT_GT(time("a1"), old);
    EXPECT_EQ(time("b1"), old) << "only what has changed is written";
    ASSERT_TRUE(node.remove_instance(id("a1")));
    records.update(node);
    EXPECT_EQ(left(), Ids{"b1"});
}

TEST_F(InstanceRecordsTest, AFaultyOneIsLeftOutAndGoes) {
    InstanceRecords(path).update(node);
    const auto one = path / "a1.json";
    const auto whole = read_text(one);
    // The line break at the end says nothing.
    for (std::size_t at = 0; at + 1 < whole.size(); at += 7) {
        auto text = whole;
        text[at] = static_cast<char>(text[at] ^ 4);
        write_text(one, text);
        EXPECT_EQ(left(), Ids{"b1"}) << at;
        write_text(one, whole.substr(0, at));
        EXPECT_EQ(left(), Ids{"b1"}) << at;
    }
    write_text(path / "c1.json", whole);
    EXPECT_EQ(left(), Ids{"b1"}) << "under another's name";
    fs::remove(one);
    for_each_not_file(one, [&](const NotFile&) { EXPECT_EQ(left(), Ids{"b1"}); });
    write_text(one, "{");
    InstanceRecords records(path);
    records.drop_rest(records.left(kBoot));
    EXPECT_FALSE(fs::exists(one));
    EXPECT_TRUE(fs::exists(path / "b1.json"));
    records.drop_rest({});
    EXPECT_FALSE(fs::exists(path / "b1.json"));
}

TEST_F(InstanceRecordsTest, AFolderThatIsNoneIsReplacedAndNothingElsewhereIsTouched) {
    fs::create_directory(folder / "others");
    write_text(folder / "others" / "a1.json", "not ours");
    fs::create_directory_symlink(folder / "others", path);
    InstanceRecords(path).update(node);
    EXPECT_EQ(left(), (Ids{"a1", "b1"}));
    EXPECT_EQ(read_text(folder / "others" / "a1.json"), "not ours");
    EXPECT_FALSE(fs::is_symlink(path));
}

TEST_F(InstanceRecordsTest, WhatTheNodeHasStaysAndAFolderThatCanNotBeWrittenHurtsNobody) {
    InstanceRecords records(path);
    records.update(node);
    records.drop_rest({});
    EXPECT_EQ(left(), (Ids{"a1", "b1"}));
    InstanceRecords nowhere(folder / "missing" / "admitted");
    nowhere.update(node);
    EXPECT_TRUE(nowhere.left(kBoot).empty());
    fs::create_directories(folder / "missing" / "admitted");
    nowhere.update(node);
    EXPECT_EQ(nowhere.left(kBoot).size(), 2U) << "it is tried again";
}

}  // namespace
}  // namespace cgpu::store
