// Requests that wait while cgpud is started anew.
#include "daemon/app/queue/admission_queue.hpp"
#include "tests/unit/daemon/app/queue/queue_bed.hpp"

namespace cgpu::app {
namespace {

using test::Names;
using test::QueueTest;

class QueueRestartTest : public QueueTest {
  protected:
    void restart() {
        const auto saved = store.saved;
        service.reset();
        start(saved);
        service->adopt();
        see_v100();
        service->adopt_queue(queue_store.left());
    }
    void run_first() {
        ASSERT_TRUE(runs(ask("first", 12000)));
        ASSERT_TRUE(attach("first", pid_of("first")));
    }
    std::shared_ptr<Call> come_back(const std::string& id, std::uint64_t mib,
                                    const std::string& wait = "forever") {
        return ask(id, mib, wait);
    }
};

TEST_F(QueueRestartTest, TheyKeepTheirPlaces) {
    run_first();
    ask("second", 8000);
    ask("third", 8000);
    restart();
    EXPECT_EQ(queued(), Names({"second", "third"}));
    const auto third = come_back("third", 8000);
    const auto newcomer = ask("newcomer", 8000);
    EXPECT_EQ(queued(), Names({"second", "third", "newcomer"}));
    const auto second = come_back("second", 8000);
    EXPECT_EQ(queued(), Names({"second", "third", "newcomer"}));
    end("first");
    EXPECT_TRUE(runs(second));
    EXPECT_TRUE(runs(third)) << refusal(third);
    EXPECT_TRUE(waits(newcomer));
}

TEST_F(QueueRestartTest, NobodyPassesOneWhoseCallerIsOnItsWayBack) {
    run_first();
    ask("second", 8000);
    ask("third", 8000);
    restart();
    const auto third = come_back("third", 8000);
    end("first");
    loop.advance(kSecond);
    EXPECT_TRUE(waits(third));
    const auto second = come_back("second", 8000);
    loop.advance(1);
    EXPECT_TRUE(runs(second));
    EXPECT_TRUE(runs(third));
}

TEST_F(QueueRestartTest, OneWhoseCallerDoesntComeBackLeaves) {
    run_first();
    ask("second", 8000);
    ask("third", 8000);
    restart();
    const auto third = come_back("third", 8000);
    end("first");
    loop.advance(AdmissionQueue::kPatience + AdmissionQueue::kLookEvery);
    EXPECT_TRUE(runs(third));
    EXPECT_TRUE(queued().empty());
    EXPECT_TRUE(queue_store.all.empty());
}

TEST_F(QueueRestartTest, OneWhoseProcessHasEndedMeanwhileLeaves) {
    run_first();
    ask("second", 8000);
    processes.living.erase(pid_of("second"));
    restart();
    loop.advance(1);
    EXPECT_TRUE(queued().empty());
}

TEST_F(QueueRestartTest, OneThatHasStartedJustBeforeWaitsNoMore) {
    run_first();
    ask("second", 2000);
    const auto id = *model::InstanceId::parse("first");
    QueuedRequest left{{}, *service->node().find_instance(id), {pid_of("first"), 7, "boot"}, {}};
    queue_store.all.emplace("first", std::move(left));
    queue_store.all.at("first").waiting.ticket = 99;
    restart();
    EXPECT_TRUE(queued().empty());
    EXPECT_FALSE(queue_store.all.contains("first"));
}

TEST_F(QueueRestartTest, TheDeadlineStays) {
    run_first();
    ask("second", 8000, "60s");
    loop.advance(50 * kSecond);
    restart();
    const auto second = come_back("second", 8000, "60s");
    loop.advance(9 * kSecond);
    EXPECT_TRUE(waits(second));
    loop.advance(kSecond);
    EXPECT_NE(refusal(second).find("it has waited 1m"), std::string::npos) << refusal(second);
}

TEST_F(QueueRestartTest, OneThatAsksTwiceIsAnsweredOnce) {
    run_first();
    const auto second = ask("second", 8000);
    const auto again = come_back("second", 8000);
    EXPECT_NE(refusal(second).find("asked once more"), std::string::npos) << refusal(second);
    end("first");
    EXPECT_TRUE(runs(again));
}

}  // namespace
}  // namespace cgpu::app
