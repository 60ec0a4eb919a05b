#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "daemon/store/lease_file.hpp"
#include "tests/unit/daemon/support/not_files.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::store {
namespace {

namespace fs = std::filesystem;

struct LeaseFileTest : testing::Test {
    LeaseFileTest() {
        std::string name = (fs::temp_directory_path() / "lease_file_XXXXXX").string();
        folder = mkdtemp(name.data());
        path = folder / "leases";
    }
    ~LeaseFileTest() override { fs::remove_all(folder); }

    static app::LeaseKey key(std::int32_t pid, const std::string& id = "one") {
        return {{{*model::InstanceId::parse(id), 7}, model::Uuid(model::Uuid::Raw{1, 2, 3})},
                {pid, 99, "0b2f3a5c-1111-2222-3333-444455556666"}};
    }
    std::unique_ptr<LeaseFile> open() {
        auto file = LeaseFile::open(path);
        if (!file) throw std::runtime_error(file.error().text);
        return std::move(*file);
    }
    fs::path folder;
    fs::path path;
};

constexpr std::uint64_t kMiB = 1ull << 20;

TEST_F(LeaseFileTest, WhatWasSetIsThereAfterwards) {
    const std::string longest(128, 'x');
    {
        const auto file = open();
        const auto first = *file->add(key(1));
        const auto second = *file->add(key(2, longest));
        file->set(first, {32 * kMiB, 311 * kMiB});
        file->set(second, {64 * kMiB, 0});
        file->remove(*file->add(key(3)));
    }
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    const auto file = open();
    EXPECT_FALSE(file->damaged());
    const auto saved = file->saved();
    ASSERT_EQ(saved.size(), 2U);
    EXPECT_EQ(saved[0].key, key(1));
    EXPECT_EQ(saved[0].amounts, (app::LeaseAmounts{32 * kMiB, 311 * kMiB}));
    EXPECT_EQ(saved[1].key, key(2, longest));
}

TEST_F(LeaseFileTest, KeepsWhatAContextTakesOnEachGpu) {
    using Size = app::LeaseTable::ContextSize;
    const model::Uuid one(model::Uuid::Raw{1});
    const model::Uuid other(model::Uuid::Raw{2});
    {
        const auto file = open();
        const auto place = *file->add(key(1));
        file->set_context_size({one, 120 * kMiB});
        file->set_context_size({other, 300 * kMiB});
        file->set_context_size({one, 122 * kMiB});
        file->remove(place);
        ASSERT_TRUE(file->add(key(2)));
        ASSERT_TRUE(file->add(key(3)));
    }
    const auto file = open();
    EXPECT_EQ(file->context_sizes(), (std::vector<Size>{{one, 122 * kMiB}, {other, 300 * kMiB}}));
    EXPECT_EQ(file->saved().size(), 2U);
}

TEST_F(LeaseFileTest, GrowsAndUsesPlacesAgain) {
    const auto file = open();
    for (std::int32_t pid = 1; pid <= 3000; ++pid) {
        const auto place = file->add(key(pid));
        ASSERT_TRUE(place);
        file->set(*place, {static_cast<std::uint64_t>(pid) * 2 * kMiB, 0});
    }
    auto saved = file->saved();
    ASSERT_EQ(saved.size(), 3000U);
    for (const auto& record : saved)
        ASSERT_EQ(record.amounts.lease, static_cast<std::uint64_t>(record.key.process.pid) * 2 * kMiB);
    const auto size = fs::file_size(path);
    for (const auto& record : saved) file->remove(record.place);
    for (std::int32_t pid = 1; pid <= 3000; ++pid) ASSERT_TRUE(file->add(key(pid)));
    EXPECT_EQ(fs::file_size(path), size);
}

TEST_F(LeaseFileTest, OneDaemonOnly) {
    const auto file = open();
    const auto second = LeaseFile::open(path);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().text.find("another cgpud"), std::string::npos) << second.error().text;
}

/// A link is refused whatever it leads to: cgpud would write there.
TEST_F(LeaseFileTest, WhatIsNoFileIsRefusedWithWhatMendsIt) {
    test::for_each_not_file(path, [&](const test::NotFile& other) {
        const std::string why = fs::is_symlink(path) ? "it is a symbolic link" : other.why;
        for (const auto& refused : {LeaseFile::open(path).map([](const auto&) {}), LeaseFile::check(path)}) {
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().text,
                      "lease file " + path.string() + ": " + why +
                          ". Try: remove it: cgpud makes a new one, and counts the memory of the processes "
                          "that run by the driver's figures.");
        }
    });
    EXPECT_TRUE(LeaseFile::check(path));
}

/// Mapping it would take the machine's memory.
TEST_F(LeaseFileTest, AFileThatIsFarTooLongIsDamaged) {
    std::ofstream(path).close();
    fs::resize_file(path, std::uintmax_t{1} << 40);
    EXPECT_NE(open()->damage().find("it is longer than 64MiB"), std::string::npos);
    EXPECT_EQ(fs::file_size(path.string() + ".damaged"), std::uintmax_t{1} << 40);
}

TEST_F(LeaseFileTest, DamageIsSaidAndAFreshFileBegun) {
    const auto damage = [&](const std::function<void()>& how) {
        {
            const auto file = open();
            file->set(*file->add(key(1)), {2 * kMiB, 0});
        }
        how();
        {
            const auto file = open();
            EXPECT_TRUE(file->damaged());
            EXPECT_NE(file->damage(), "");
            EXPECT_TRUE(file->saved().empty());
            EXPECT_TRUE(fs::exists(path.string() + ".damaged"));
            EXPECT_TRUE(file->add(key(2)));
        }
        EXPECT_FALSE(open()->damaged());
        fs::remove(path);
    };
    const auto write_at = [&](std::streamoff offset, std::string_view bytes) {
        std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(offset);
        stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        ASSERT_TRUE(stream.flush());
    };
    damage([&] { write_at(0, "garbage!"); });
    damage([&] { write_at(8, std::string_view("\x00", 1)); });
    damage([&] { fs::resize_file(path, 300); });
    damage([&] { fs::resize_file(path, 10); });
    damage([&] { write_at(256, "\x01"); });                               // a state that is none
    damage([&] { write_at(256 + 4, std::string_view("\0\0\0\0", 4)); });  // pid 0
}

// A later cgpud: it writes one version more, and reads the present one.
constexpr LeaseVersions kLater{LeaseFileHeader::kVersion, LeaseFileHeader::kVersion + 1};

TEST_F(LeaseFileTest, ALaterCgpudReadsThePresentFileOnAndThePresentOneRefusesItsFile) {
    {
        const auto file = open();
        file->set(*file->add(key(1)), {2 * kMiB, 0});
    }
    {
        const auto later = LeaseFile::open(path, kLater);
        ASSERT_TRUE(later) << later.error().text;
        EXPECT_FALSE((*later)->damaged());
        ASSERT_EQ((*later)->saved().size(), 1U);
        EXPECT_EQ((*later)->saved()[0].key, key(1));
    }
    const auto before = test::read_text(path);
    const auto present = LeaseFile::open(path);
    ASSERT_FALSE(present);
    EXPECT_NE(present.error().text.find("it is of version " + std::to_string(kLater.newest) +
                                        " and this cgpud knows versions up to " +
                                        std::to_string(LeaseFileHeader::kVersion) + ". Try: "),
              std::string::npos)
        << present.error().text;
    EXPECT_EQ(test::read_text(path), before);
    EXPECT_FALSE(fs::exists(path.string() + ".damaged"));
    const auto again = LeaseFile::open(path, kLater);
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ((*again)->saved().size(), 1U);
}

TEST_F(LeaseFileTest, AFileOlderThanTheOldestIsMovedAway) {
    for (const LeaseVersions& versions : {LeaseVersions{}, LeaseVersions{kLater.newest, kLater.newest}}) {
        const std::uint32_t older = versions.oldest - 1;
        LeaseFile::open(path, {older, older}).value()->add(key(1)).value();
        const auto file = LeaseFile::open(path, versions);
        ASSERT_TRUE(file) << file.error().text;
        EXPECT_NE((*file)->damage().find("its version " + std::to_string(older) + " is not known"),
                  std::string::npos)
            << (*file)->damage();
        EXPECT_TRUE((*file)->saved().empty());
        EXPECT_TRUE(fs::remove(path.string() + ".damaged"));
        fs::remove(path);
    }
}

TEST_F(LeaseFileTest, AFileOfZerosIsAnEmptyOne) {
    std::ofstream(path).close();
    fs::resize_file(path, 4096);
    EXPECT_FALSE(open()->damaged());
}

TEST_F(LeaseFileTest, AFileThatLostItsEndIsDamaged) {
    open()->add(key(1)).value();
    fs::resize_file(path, sizeof(LeaseFileHeader) + 200 * sizeof(LeaseRecord));
    EXPECT_NE(open()->damage().find("it was cut off"), std::string::npos);
}

/// What an earlier daemon made longer and was killed before it made the records.
TEST_F(LeaseFileTest, AFileThatIsLongerThanItsRecordsGoesOn) {
    open()->add(key(1)).value();
    fs::resize_file(path, fs::file_size(path) + 3 * sizeof(LeaseRecord));
    {
        const auto file = open();
        EXPECT_FALSE(file->damaged()) << file->damage();
        for (std::int32_t pid = 2; pid < 600; ++pid) ASSERT_TRUE(file->add(key(pid)));
    }
    EXPECT_EQ(open()->saved().size(), 599U);
}

/// Nothing that was once said is forgotten, or said otherwise, because of a wrong bit.
TEST_F(LeaseFileTest, AWrongBitIsFoundWhereverItIs) {
    {
        const auto file = open();
        file->set(*file->add(key(1)), {32 * kMiB, 311 * kMiB});
        file->set(*file->add(key(2, "two")), {64 * kMiB, 0});
        file->set_context_size({model::Uuid(model::Uuid::Raw{1}), 120 * kMiB});
    }
    const auto whole = test::read_text(path);
    const auto told = [this] {
        const auto file = open();
        const auto saved = file->saved();
        return saved.size() == 2 && saved[0].key == key(1) && saved[1].key == key(2, "two") &&
               saved[0].amounts == app::LeaseAmounts{32 * kMiB, 311 * kMiB} &&
               saved[1].amounts == app::LeaseAmounts{64 * kMiB, 0} &&
               file->context_sizes() ==
                   std::vector{app::LeaseTable::ContextSize{model::Uuid(model::Uuid::Raw{1}), 120 * kMiB}};
    };
    std::size_t found = 0;
    for (std::size_t at = 0; at < 6 * sizeof(LeaseRecord); ++at) {
        auto text = whole;
        text[at] = static_cast<char>(text[at] ^ (1 << at % 8));
        test::write_text(path, text);
        if (const auto file = LeaseFile::open(path); !file) {
            EXPECT_NE(file.error().text.find("knows versions up to"), std::string::npos);
            continue;
        } else if ((*file)->damaged()) {
            EXPECT_TRUE((*file)->saved().empty());
            ++found;
            continue;
        }
        EXPECT_TRUE(told()) << at << ": what isn't used may be wrong";
    }
    EXPECT_GT(found, 600U);
    for (std::size_t at = 0; at + 300 < 6 * sizeof(LeaseRecord); at += 100) {
        auto text = whole;
        std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), 300, '\0');
        test::write_text(path, text);
        EXPECT_TRUE(open()->damaged()) << at << ": a block of zeros";
    }
}

/// A cgpud that was upgraded while jobs run takes over what its predecessor granted.
TEST_F(LeaseFileTest, AFileWithoutChecksGetsThem) {
    struct Version2 {
        std::uint32_t state;
        std::int32_t pid;
        std::uint64_t start_time, generation, lease, unsized;
        std::uint8_t gpu[16];
        char boot_id[40];
        char instance[128];
        std::uint8_t reserved[32];
    };
    static_assert(sizeof(Version2) == sizeof(LeaseRecord));
    std::string text("cgpuleas\2\0\0\0\0\1\0\0", 16);
    text.resize(sizeof(LeaseFileHeader) + 255 * sizeof(Version2), '\0');
    Version2 record{LeaseRecord::kUsed, 1, 99, 7, 32 * kMiB, 311 * kMiB, {1, 2, 3}, {}, "one", {}};
    key(1).process.boot_id.copy(record.boot_id, sizeof record.boot_id);
    const auto put = [&](std::size_t place) {
        std::memcpy(text.data() + sizeof(LeaseFileHeader) + place * sizeof record, &record, sizeof record);
    };
    put(3);
    record = {LeaseRecord::kContextSize, 0, 0, 0, 0, 120 * kMiB, {1}, {}, {}, {}};
    put(4);
    test::write_text(path, text);
    for (int again = 0; again < 2; ++again) {
        const auto file = open();
        EXPECT_EQ(file->damage(), "");
        ASSERT_EQ(file->saved().size(), 1U);
        EXPECT_EQ(file->saved()[0].key, key(1));
        EXPECT_EQ(file->saved()[0].amounts, (app::LeaseAmounts{32 * kMiB, 311 * kMiB}));
        EXPECT_EQ(file->context_sizes().size(), 1U);
    }
    EXPECT_EQ(test::read_text(path)[8], 3);
    record.lease = 12345;  // no whole granules
    record.state = LeaseRecord::kUsed;
    put(4);
    test::write_text(path, text);
    EXPECT_TRUE(open()->damaged());
}

TEST_F(LeaseFileTest, AFullDiskRefusesAndLosesNothing) {
    if (geteuid() != 0 || mount("none", folder.c_str(), "tmpfs", 0, "size=128k") != 0)
        GTEST_SKIP() << "needs the right to mount a small tmpfs";
    {
        const auto file = open();
        std::size_t added = 0;
        std::int32_t pid = 1;
        for (; pid < 5000; ++pid) {
            const auto place = file->add(key(pid));
            if (!place) {
                EXPECT_NE(place.error().text.find("can't grow"), std::string::npos) << place.error().text;
                break;
            }
            file->set(*place, {2 * kMiB, 0});
            ++added;
        }
        ASSERT_LT(pid, 5000);
        EXPECT_EQ(file->saved().size(), added);
        file->remove(file->saved().front().place);
        EXPECT_TRUE(file->add(key(pid))) << "a place that became free is taken";
    }
    EXPECT_FALSE(open()->damaged());
    ASSERT_EQ(umount(folder.c_str()), 0);
}

/// A process is killed while it writes as fast as it can: all records that are left are whole.
TEST_F(LeaseFileTest, KilledAtAnyInstantItLeavesWholeRecords) {
    for (int round = 0; round < 60; ++round) {
        int started[2];
        ASSERT_EQ(pipe(started), 0);
        const pid_t child = fork();
        if (child == 0) {
            auto file = LeaseFile::open(path);
            if (!file) _exit(1);
            std::map<std::size_t, std::uint64_t> places;
            for (const auto& saved : (*file)->saved()) places[saved.place] = 0;
            for (std::uint64_t i = 1;; ++i) {
                // Lease and pid have the same value, so that a mixture of two records would show.
                const auto pid = static_cast<std::int32_t>(i % 100'000 + 1);
                const auto place = (*file)->add(key(pid, "instance-" + std::to_string(pid)));
                if (!place) _exit(2);
                (*file)->set(*place, {static_cast<std::uint64_t>(pid) * 2 * kMiB, 0});
                places[*place] = i;
                if (places.size() > 600) {
                    (*file)->remove(places.begin()->first);
                    places.erase(places.begin());
                }
                if (i == 10 && write(started[1], "x", 1) != 1) _exit(3);
            }
        }
        char byte = 0;
        ASSERT_EQ(read(started[0], &byte, 1), 1);
        usleep(static_cast<useconds_t>(37 * round));  // where it is hit, not what is waited for
        ASSERT_EQ(kill(child, SIGKILL), 0);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status));
        close(started[0]);
        close(started[1]);
        const auto file = open();
        ASSERT_FALSE(file->damaged()) << file->damage();
        for (const auto& saved : file->saved()) {
            const auto pid = saved.key.process.pid;
            ASSERT_EQ(saved.key, key(pid, "instance-" + std::to_string(pid)));
            ASSERT_TRUE(saved.amounts.lease == static_cast<std::uint64_t>(pid) * 2 * kMiB ||
                        saved.amounts.lease == 0);
        }
    }
}

}  // namespace
}  // namespace cgpu::store
