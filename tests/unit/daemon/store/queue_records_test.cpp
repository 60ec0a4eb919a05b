#include "daemon/store/queue_records.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/request/request.hpp"
#include "tests/unit/daemon/store/saved_nodes.hpp"
#include "tests/unit/daemon/support/not_files.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

/// The records of requests that wait.
namespace cgpu::store {
namespace {

namespace fs = std::filesystem;
using namespace cgpu::test;

const std::string kQueueBoot = "5f3a-boot";

app::QueuedRequest queued(const char* id, queue::Ticket ticket) {
    model::Instance waits = instance(id, {});
    waits.mode = model::Mode::none;
    waits.created = 1'700'000'000;
    waits.creator = 1000;
    waits.owner.user = 1000;
    waits.image = "train:1";
    app::QueuedRequest made{{},
                            waits,
                            {4242, 1, kQueueBoot},
                            {{"CGPU_MEM", "4GiB"}, {"CGPU_WAIT", "1h"}},
                            model::Refusal::Reason::no_space};
    made.waiting.ticket = ticket;
    made.waiting.priority = 1;
    made.waiting.owner = waits.owner;
    made.waiting.request = **request::parse_request(made.variables);
    made.waiting.asked_at = 12'345'678'901;
    made.waiting.deadline = 3'612'345'678'901;
    return made;
}

struct QueueRecordsTest : ::testing::Test {
    std::vector<std::string> left(const std::string& boot = kQueueBoot) const {
        std::vector<std::string> ids;
        for (const auto& each : QueueRecords(path).left(boot)) ids.push_back(each.id().str());
        std::ranges::sort(ids);
        return ids;
    }
    using Ids = std::vector<std::string>;

    TempFolder folder;
    fs::path path = folder / "queued";
};

TEST_F(QueueRecordsTest, WhatWaitsIsLeftForTheNextDaemonOfThisBoot) {
    auto other = queued("b1", 8);
    other.waiting.deadline.reset();
    other.waiting.length = 7'200'000'000'000;
    other.waiting.owner = other.instance.owner = {std::nullopt, "bob"};
    {
        QueueRecords records(path);
        records.add(queued("a1", 7));
        records.add(other);
        records.add(queued("c1", 9));
        records.remove(*model::InstanceId::parse("c1"));
        records.remove(*model::InstanceId::parse("d1"));
    }
    auto found = QueueRecords(path).left(kQueueBoot);
    std::ranges::sort(found, {}, [](const auto& each) { return each.waiting.ticket; });
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0], queued("a1", 7));
    EXPECT_EQ(found[1], other);
    EXPECT_EQ(left("another"), Ids{}) << "its process has ended with its boot";
    EXPECT_EQ(left(), Ids{}) << "and nobody asks for it any more";
}

TEST_F(QueueRecordsTest, AFaultyOneIsLeftOutAndGoes) {
    QueueRecords records(path);
    records.add(queued("a1", 7));
    records.add(queued("b1", 8));
    const auto one = path / "a1.json";
    const auto whole = read_text(one);
    for (std::size_t at = 0; at + 1 < whole.size(); at += 11) {
        auto text = whole;
        text[at] = static_cast<char>(text[at] ^ 4);
        write_text(one, text);
        EXPECT_EQ(left(), Ids{"b1"}) << at;
        write_text(one, whole.substr(0, at));
        EXPECT_EQ(left(), Ids{"b1"}) << at;
    }
    write_text(path / "c1.json", whole);
    EXPECT_EQ(left(), Ids{"b1"}) << "under another's name";
    for_each_not_file(one, [&](const NotFile&) { EXPECT_EQ(left(), Ids{"b1"}); });
}

TEST_F(QueueRecordsTest, AFolderThatCanNotBeWrittenHurtsNobody) {
    QueueRecords nowhere(folder / "missing" / "queued");
    nowhere.add(queued("a1", 7));
    EXPECT_TRUE(nowhere.left(kQueueBoot).empty());
}

}  // namespace
}  // namespace cgpu::store
