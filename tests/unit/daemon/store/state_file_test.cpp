#include "daemon/store/state_file.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "daemon/store/base/atomic_file.hpp"
#include "tests/unit/daemon/store/saved_nodes.hpp"
#include "tests/unit/daemon/support/as_nobody.hpp"
#include "tests/unit/daemon/support/not_files.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

/// Saving and loading on real file systems, with their faults.
namespace cgpu::store {
namespace {

namespace fs = std::filesystem;
using namespace cgpu::test;
using model::Node;
using Reason = model::Refusal::Reason;

std::size_t count_files(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void expect_refused(const app::Result<void>& saved, const std::string& part) {
    EXPECT_EQ(reason_of(saved), Reason::storage);
    expect_well_formed(saved.error());
    EXPECT_NE(saved.error().text.find(part), std::string::npos) << saved.error().text;
}

/// A node whose state takes more than `bytes` on disk.
Node large_node(std::size_t bytes) {
    Node node = v100();
    model::Instance large = instance("large", {quota(0, 1)});
    large.name = std::string(bytes, 'x');
    EXPECT_TRUE(node.add_instance(large).has_value());
    return node;
}

TEST(StateFile, NoFileIsAnEmptyNode) {
    const TempFolder folder;
    const auto node = StateFile(folder.path()).load();
    ASSERT_TRUE(node.has_value());
    EXPECT_EQ(node->node, Node{});
    EXPECT_EQ(count_files(folder.path()), 1U) << "which is on disk from then on";
}

TEST(StateFile, AFolderThatIsMissingOrCanNotBeWrittenIsNotAnEmptyState) {
    const TempFolder folder;
    StateFile missing(folder / "missing" / "state");
    EXPECT_FALSE(missing.check());
    ASSERT_FALSE(missing.load());
    EXPECT_EQ(missing.load().error().reason, model::Refusal::Reason::storage);
    EXPECT_TRUE(StateFile(folder.path()).check());
    EXPECT_TRUE(StateFile(folder / "new").check());
    EXPECT_FALSE(fs::exists(folder / "new")) << "which changes nothing";
    EXPECT_TRUE(StateFile(folder / "new").load());
    EXPECT_TRUE(fs::exists(folder / "new" / "state.json"));
    const cgpu::test::AsNobody nobody;
    EXPECT_FALSE(StateFile(folder.path()).check());
    EXPECT_FALSE(StateFile(folder.path()).load());
}

TEST(StateFile, OneThatCanBeReadIsTakenUpWhereItsFolderCanNotBeWritten) {
    const TempFolder folder;
    ASSERT_TRUE(StateFile(folder.path()).save(full_node()).has_value());
    ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
    ASSERT_EQ(chmod((folder / "state.json").c_str(), 0644), 0);
    {
        const cgpu::test::AsNobody nobody;
        EXPECT_TRUE(StateFile(folder.path()).check());
        const auto state = StateFile(folder.path()).load();
        ASSERT_TRUE(state) << state.error().text;
        EXPECT_EQ(state->node, full_node());
    }
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
}

TEST(StateFile, AFolderThatIsNotSyncedDoesNotMakeASaveAFailure) {
    const TempFolder folder;
    const auto path = folder / "file";
    const auto broken = [](int) {
        errno = EIO;
        return -1;
    };
    EXPECT_EQ(replace_file(path, "new", broken), Replaced::until_power_fails);
    EXPECT_EQ(replace_file(path, "newer"), Replaced::durably);
}

TEST(StateFile, TheSpareFileIsWrittenAndTakesTheFilesPlace) {
    const TempFolder folder;
    StateFile file(folder.path());
    for (const Node& node : {v100(), full_node(), v100()}) ASSERT_TRUE(file.save(node).has_value());
    const auto inode = [](const fs::path& path) {
        struct stat its {};
        EXPECT_EQ(stat(path.c_str(), &its), 0);
        return its.st_ino;
    };
    const auto current = inode(file.path());
    const auto spare = inode(spare_of(file.path()));
    ASSERT_TRUE(file.save(full_node()).has_value());
    EXPECT_EQ(inode(file.path()), spare);
    EXPECT_EQ(inode(spare_of(file.path())), current);
    EXPECT_EQ(StateFile(folder.path()).load()->node, full_node());
}

TEST(StateFile, OneThatBecomesShorterHasNothingOfTheLongerOne) {
    const TempFolder folder;
    StateFile file(folder.path());
    for (const Node& node : {large_node(20000), large_node(20000), v100()})
        ASSERT_TRUE(file.save(node).has_value());
    EXPECT_EQ(StateFile(folder.path()).load()->node, v100());
    EXPECT_LT(fs::file_size(file.path()), 10000U);
}

TEST(StateFile, ACopyThatIsLinkedToTheFileIsNotWrittenTo) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(full_node()).has_value());
    fs::create_hard_link(file.path(), folder / "backup");
    const auto kept = read_text(folder / "backup");
    for (int n = 0; n < 3; ++n) ASSERT_TRUE(file.save(v100()).has_value());
    EXPECT_EQ(read_text(folder / "backup"), kept);
    EXPECT_EQ(StateFile(folder.path()).load()->node, v100());
}

TEST(StateFile, ASpareFileOfAnotherKindIsReplaced) {
    const TempFolder folder;
    StateFile file(folder.path());
    write_text(folder / "other", "not ours");
    const auto put = {+[](const fs::path& at, const fs::path& other) { fs::create_symlink(other, at); },
                      +[](const fs::path& at, const fs::path&) { ASSERT_EQ(mkfifo(at.c_str(), 0600), 0); },
                      +[](const fs::path& at, const fs::path&) { fs::create_directory(at); }};
    for (const auto& each : put) {
        fs::remove(spare_of(file.path()));
        each(spare_of(file.path()), folder / "other");
        ASSERT_TRUE(file.save(v100()).has_value());
        ASSERT_TRUE(file.save(full_node()).has_value());
        EXPECT_EQ(StateFile(folder.path()).load()->node, full_node());
    }
    EXPECT_EQ(read_text(folder / "other"), "not ours");
}

TEST(StateFile, OneThatIsBeingWrittenIsReadAgain) {
    const TempFolder folder;
    ASSERT_TRUE(StateFile(folder.path()).save(v100()).has_value());
    std::atomic<bool> ended = false;
    std::thread writer([&] {
        StateFile file(folder.path());
        while (!ended)
            EXPECT_TRUE(file.save(full_node()).has_value() && file.save(large_node(40000)).has_value());
    });
    for (int n = 0; n < 300; ++n) {
        const auto checked = StateFile(folder.path()).check();
        EXPECT_TRUE(checked) << checked.error().text;
    }
    ended = true;
    writer.join();
}

TEST(StateFile, WhatIsSavedIsLoaded) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    ASSERT_TRUE(file.save(full_node()).has_value());
    EXPECT_EQ(StateFile(folder.path()).load()->node, full_node());
    EXPECT_EQ(count_files(folder.path()), 2U) << "with the spare file";
    struct stat status {};
    ASSERT_EQ(stat(file.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(StateFile, EachPartIsSavedWithTheOtherAsItWas) {
    const TempFolder folder;
    StateFile first(folder.path());
    ASSERT_TRUE(first.save(v100()).has_value());
    upgrade::Record record;
    record.in_force = upgrade::Version{1, 2, 3};
    ASSERT_TRUE(first.save(record).has_value());
    StateFile second(folder.path());
    EXPECT_EQ(second.load()->record, record);
    ASSERT_TRUE(second.save(full_node()).has_value());
    const auto state = StateFile(folder.path()).load();
    EXPECT_EQ(state->record, record);
    EXPECT_EQ(state->node, full_node());
}

TEST(StateFile, LeftoversOfAnInterruptedSaveAreRemoved) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    write_text(folder / ".state.json.new.a1B2c3", "{\"vers");
    write_text(folder / "leases", "not ours");
    EXPECT_EQ(file.load()->node, v100());
    EXPECT_FALSE(fs::exists(folder / ".state.json.new.a1B2c3"));
    EXPECT_TRUE(fs::exists(folder / "leases"));
}

TEST(StateFile, ADamagedOrNewerFileIsRefusedAndKept) {
    const TempFolder folder;
    StateFile file(folder.path());
    for (const std::string& text :
         {std::string("{\"version\": 1,"), std::string("{\"version\": 3}"), std::string()}) {
        write_text(file.path(), text);
        const auto node = file.load();
        ASSERT_FALSE(node.has_value());
        EXPECT_EQ(node.error().reason, Reason::storage);
        expect_well_formed(node.error());
        EXPECT_NE(node.error().text.find(file.path().string()), std::string::npos);
        EXPECT_EQ(read_text(file.path()), text);
    }
}

TEST(StateFile, OneThatCannotBeReadIsRefused) {
    const TempFolder folder;
    StateFile file(folder.path());
    for_each_not_file(file.path(), [&](const NotFile& other) {
        for (const std::string& text : {text_of(file.load()), text_of(file.check())})
            EXPECT_EQ(text, "state file " + file.path().string() + ": it can't be read: " + other.why +
                                ". Try: put the state file in its place, or remove it: without one cgpud "
                                "begins anew.");
    });
    write_text(file.path(), "");
    ASSERT_EQ(truncate(file.path().c_str(), off_t{1} << 42), 0);
    EXPECT_NE(text_of(file.load()).find("it is longer than 64MiB"), std::string::npos);
    fs::remove(file.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    ASSERT_EQ(chmod(file.path().c_str(), 0), 0);
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
    const AsNobody nobody;
    EXPECT_NE(text_of(file.load()).find("Permission denied"), std::string::npos);
}

TEST(StateFile, AMissingFolderIsSaid) {
    const TempFolder folder;
    StateFile file(folder / "missing");
    expect_refused(file.save(v100()), "No such file or directory");
}

TEST(StateFile, AFolderThatCannotBeWrittenKeepsTheOldFile) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    ASSERT_EQ(chmod(file.path().c_str(), 0644), 0);
    ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
    {
        const AsNobody nobody;
        expect_refused(file.save(full_node()), "Permission denied");
        EXPECT_EQ(file.load()->node, v100());
    }
    ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
}

TEST(StateFile, AWriteThatFailsMidwayKeepsTheOldFile) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    struct rlimit before {};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small { 10000, before.rlim_max };
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto saved = file.save(large_node(50000));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, old_handler);
    expect_refused(saved, "File too large");
    EXPECT_EQ(file.load()->node, v100());
    EXPECT_EQ(count_files(folder.path()), 1U);
}

/// A file system of one test.
class TinyDisk {
  public:
    explicit TinyDisk(const char* options)
        : mounted_(mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, options) == 0) {}
    ~TinyDisk() {
        if (mounted_) {
            EXPECT_EQ(umount2(folder_.path().c_str(), MNT_DETACH), 0);
        }
    }
    TinyDisk(const TinyDisk&) = delete;
    TinyDisk& operator=(const TinyDisk&) = delete;

    [[nodiscard]] bool mounted() const { return mounted_; }
    [[nodiscard]] const fs::path& path() const { return folder_.path(); }
    void make_read_only() {
        EXPECT_EQ(mount("tmpfs", path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr), 0);
    }

  private:
    TempFolder folder_;
    bool mounted_;
};

TEST(StateFile, AFullDiskKeepsTheOldFile) {
    const TinyDisk disk("size=64k");
    if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs takes root";
    StateFile file(disk.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    expect_refused(file.save(large_node(200000)), "No space left on device");
    EXPECT_EQ(file.load()->node, v100());
    EXPECT_EQ(count_files(disk.path()), 1U);
    EXPECT_TRUE(file.save(full_node()).has_value());
}

TEST(StateFile, AReadOnlyDiskKeepsTheOldFile) {
    TinyDisk disk("size=64k");
    if (!disk.mounted()) GTEST_SKIP() << "mounting a tmpfs takes root";
    StateFile file(disk.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    disk.make_read_only();
    expect_refused(file.save(full_node()), "Read-only file system");
    EXPECT_EQ(file.load()->node, v100());
}

}  // namespace
}  // namespace cgpu::store
