#include "daemon/store/history/history_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/history/checksum.hpp"
#include "core/history/fields.hpp"
#include "core/history/ring.hpp"
#include "tests/unit/core/history/records.hpp"
#include "tests/unit/daemon/support/not_files.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::store {
namespace {

using history::Record;

/// A file with another version in its header, and the checksum of that.
std::string of_version(std::vector<std::byte> ring, std::uint32_t version) {
    history::Writer header(ring);
    header.at(8).number(version);
    header.at(24).number(history::checksum(std::span(ring).first(24)));
    return {reinterpret_cast<const char*>(ring.data()), ring.size()};
}

class HistoryFileTest : public testing::Test {
  protected:
    static constexpr std::uint64_t kBytes = history::ring_bytes(16);

    std::unique_ptr<HistoryFile> open(std::uint64_t bytes = kBytes) {
        auto file = HistoryFile::open(path_, bytes);
        EXPECT_TRUE(file) << file.error().text;
        return file ? std::move(*file) : nullptr;
    }
    std::vector<Record> add(HistoryFile& file, std::size_t count) {
        auto records = history::random_records(random_, 1, count);
        for (auto& record : records) record.number = 0;
        file.append(records);
        return records;
    }
    /// By the descriptor that clients get.
    std::vector<Record> read(HistoryFile& file) {
        const auto fd = file.open_for_reading();
        EXPECT_TRUE(fd);
        std::vector<std::byte> content(1 << 20);
        const auto got = ::pread(*fd, content.data(), content.size(), 0);
        EXPECT_NE(::write(*fd, "x", 1), 1) << "it only reads";
        ::close(*fd);
        content.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        return history::read_ring(content).records;
    }

    /// In a file that was made anew; `places`: it has so many, and older records are lost.
    static std::vector<Record> numbered_anew(std::vector<Record> left, std::uint64_t places = 0) {
        std::uint64_t number = places;
        for (auto& record : left) record.number = ++number;
        return left;
    }

    test::TempFolder folder_;
    std::filesystem::path path_ = folder_ / "history";
    std::mt19937_64 random_{11};
};

TEST_F(HistoryFileTest, keeps_records_and_numbers_over_restarts) {
    std::vector<Record> all;
    for (int start = 0; start < 12; ++start) {
        const auto file = open();
        EXPECT_EQ(file->damage(), "");
        const auto added = add(*file, 3);
        all.insert(all.end(), added.begin(), added.end());
        std::vector<Record> newest(
            all.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(16, all.size())), all.end());
        EXPECT_EQ(read(*file), newest);
        EXPECT_EQ(newest.back().number, all.size());
    }
    EXPECT_EQ(std::filesystem::file_size(path_), kBytes);
}

TEST_F(HistoryFileTest, a_file_of_a_former_version_is_written_anew_with_its_records) {
    const auto all = add(*open(), 3);
    test::write_text(path_, of_version(history::make_ring(all, 16), history::kRingVersion - 1));
    const auto file = open();
    EXPECT_EQ(file->damage(), "");
    EXPECT_EQ(read(*file), all);
    const auto text = test::read_text(path_);
    EXPECT_FALSE(history::read_ring(std::as_bytes(std::span(text))).former)
        << "a former release must not take it for its own";
}

TEST_F(HistoryFileTest, a_record_with_a_number_takes_the_place_of_the_former_one) {
    const auto file = open();
    auto all = add(*file, 3);
    all[1].launches = 77;
    file->append(std::span(all).subspan(1, 1));
    EXPECT_EQ(read(*file), all);
    const auto more = add(*file, 1);
    EXPECT_EQ(more[0].number, 4U);
    const auto again = open();
    EXPECT_EQ(again->take_found().size(), 4U);
    EXPECT_TRUE(again->take_found().empty());
}

TEST_F(HistoryFileTest, grows_up_to_its_size_and_is_its_owners_alone) {
    const auto file = open();
    EXPECT_EQ(std::filesystem::file_size(path_), history::kHeaderBytes);
    for (const std::size_t bytes : {history::ring_bytes(10), kBytes, kBytes}) {
        add(*file, 10);
        EXPECT_EQ(std::filesystem::file_size(path_), bytes);
    }
    struct stat status {};
    ASSERT_EQ(stat(path_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(HistoryFileTest, moves_its_records_into_another_size) {
    std::vector<Record> added;
    {
        const auto file = open();
        added = add(*file, 16);
    }
    EXPECT_EQ(read(*open(history::ring_bytes(40))), added);
    const auto small = open(history::ring_bytes(5));
    EXPECT_EQ(read(*small), numbered_anew({added.end() - 5, added.end()}, 5)) << "older ones are lost";
    EXPECT_EQ(std::filesystem::file_size(path_), history::ring_bytes(5));
}

TEST_F(HistoryFileTest, mends_a_damaged_file) {
    std::vector<Record> added;
    {
        const auto file = open();
        added = add(*file, 10);
    }
    auto text = test::read_text(path_);
    text[3] ^= 1;                                                       // of the header
    text[history::kHeaderBytes + 4 * history::kRecordBytes + 77] ^= 1;  // of the fifth record
    test::write_text(path_, text);
    const auto file = open();
    EXPECT_NE(file->damage().find("1 damaged or missing record"), std::string::npos) << file->damage();
    added.erase(added.begin() + 4);
    EXPECT_EQ(read(*file), numbered_anew(added));
    EXPECT_EQ(open()->damage(), "");
}

TEST_F(HistoryFileTest, tells_of_records_in_whose_place_are_zeros) {
    std::vector<Record> added;
    {
        const auto file = open();
        added = add(*file, 10);
    }
    auto text = test::read_text(path_);
    // The oldest ones, and two in the middle.
    for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 2}, {4, 2}})
        text.replace(history::kHeaderBytes + first * history::kRecordBytes, count * history::kRecordBytes,
                     count * history::kRecordBytes, '\0');
    test::write_text(path_, text);
    const auto file = open();
    EXPECT_NE(file->damage().find("4 damaged or missing records"), std::string::npos) << file->damage();
    added.erase(added.begin() + 4, added.begin() + 6);
    added.erase(added.begin(), added.begin() + 2);
    EXPECT_EQ(read(*file), numbered_anew(added, 16));
    for (int round = 0; round < 20; ++round) {
        add(*file, 1);
        EXPECT_EQ(open()->damage(), "") << "it is told once, round " << round;
    }
}

TEST_F(HistoryFileTest, tells_of_a_file_that_lost_its_content) {
    add(*open(), 3);
    for (const auto& content : {std::string(), std::string(3000, '\0')}) {
        test::write_text(path_, content);
        EXPECT_NE(open()->damage().find("it had lost its content"), std::string::npos);
        EXPECT_EQ(open()->damage(), "");
    }
    std::filesystem::remove(path_);
    EXPECT_EQ(open()->damage(), "") << "the first one of a node";
}

TEST_F(HistoryFileTest, tells_of_a_record_that_was_cut_off) {
    add(*open(), 3);
    auto text = test::read_text(path_);
    text.resize(text.size() - 100);
    test::write_text(path_, text);
    EXPECT_NE(open()->damage().find("1 damaged or missing record"), std::string::npos);
}

TEST_F(HistoryFileTest, takes_up_a_file_that_was_cut_off_anywhere) {
    std::vector<Record> added;
    {
        const auto file = open();
        added = add(*file, 16);
    }
    const auto text = test::read_text(path_);
    for (std::size_t length = 0; length < text.size(); length += 611) {
        test::write_text(path_, text.substr(0, length));
        const auto whole =
            length < history::kHeaderBytes ? 0 : (length - history::kHeaderBytes) / history::kRecordBytes;
        const auto file = open();
        ASSERT_EQ(read(*file), std::vector(added.begin(), added.begin() + static_cast<std::ptrdiff_t>(whole)))
            << length;
    }
}

TEST_F(HistoryFileTest, sets_a_foreign_file_aside) {
    test::write_text(path_, std::string(9000, 'x'));
    const auto file = open();
    EXPECT_NE(file->damage().find("it is no history"), std::string::npos);
    EXPECT_EQ(test::read_text(folder_ / "history.damaged"), std::string(9000, 'x'));
    EXPECT_EQ(read(*file), add(*file, 0));
}

TEST_F(HistoryFileTest, refuses_what_is_no_file) {
    const auto file = open();
    std::filesystem::remove(path_);
    test::for_each_not_file(path_, [&](const test::NotFile& other) {
        const std::string why = std::filesystem::is_symlink(path_) ? "it is a symbolic link" : other.why;
        const std::string text = "history " + path_.string() + ": " + why +
                                 ". Try: move it away, then systemctl restart cgpud: a new history begins.";
        for (const auto& refused : {HistoryFile::open(path_, kBytes).map([](const auto&) {}),
                                    HistoryFile::check(path_), file->open_for_reading().map([](int) {})}) {
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().text, text);
        }
        // It was put there while cgpud runs.
        (void)add(*file, 1);
        file->sync();
    });
    EXPECT_TRUE(HistoryFile::check(path_));
}

TEST_F(HistoryFileTest, sets_a_file_aside_that_is_far_longer_than_a_history) {
    std::ofstream(path_).close();
    std::filesystem::resize_file(path_, std::uintmax_t{1} << 40);
    EXPECT_NE(open()->damage().find("it is no history"), std::string::npos);
    // Also if it begins as one.
    auto file = open();
    const auto added = add(*file, 3);
    std::filesystem::resize_file(path_, std::uintmax_t{1} << 40);
    file = open();
    EXPECT_NE(file->damage().find("it is no history"), std::string::npos);
    EXPECT_EQ(read(*file), add(*file, 0));
}

TEST_F(HistoryFileTest, leaves_a_newer_file_alone) {
    const auto text = of_version(history::make_ring({}, 16), history::kRingVersion + 1);
    test::write_text(path_, text);
    const auto file = HistoryFile::open(path_, kBytes);
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().text.find("a newer version"), std::string::npos);
    EXPECT_EQ(test::read_text(path_), text);
}

TEST_F(HistoryFileTest, is_refused_where_it_cannot_be_made) {
    const auto nowhere = HistoryFile::open(folder_ / "missing/history", kBytes);
    ASSERT_FALSE(nowhere);
    EXPECT_NE(nowhere.error().text.find("Try: "), std::string::npos);
    std::filesystem::create_directory(path_);
    EXPECT_FALSE(HistoryFile::open(path_, kBytes));
}

}  // namespace
}  // namespace cgpu::store
