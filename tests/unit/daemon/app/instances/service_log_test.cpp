// What the service writes into the log without an event.
#include <memory>
#include <sstream>
#include <string>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "daemon/app/events/repeated.hpp"
#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

class ServiceLog : public ServiceTest {
  protected:
    ServiceLog() {
        auto logger = std::make_shared<spdlog::logger>(
            "test", std::make_shared<spdlog::sinks::ostream_sink_st>(written_));
        logger->set_pattern("%l: %v");
        spdlog::set_default_logger(logger);
    }
    ~ServiceLog() override { spdlog::set_default_logger(before_); }

    /// How often the text has been written.
    [[nodiscard]] std::size_t lines_with(const std::string& text) const {
        std::istringstream all(written_.str());
        std::size_t count = 0;
        for (std::string line; std::getline(all, line);) count += line.find(text) != std::string::npos;
        return count;
    }

    std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
    std::ostringstream written_;
};

// Found as a user who asked again and again, and filled the log.
TEST_F(ServiceLog, VariablesThatNobodyKnowsAreToldTogether) {
    see_v100();
    service->set_settings(
        {{}, [](const model::SeenGpu&) { return model::GpuSettings{}; }, request::UnknownNames::warn});
    caller.user = 1000;
    const std::map<std::string, std::string> typo = {{"CGPU_MEMORY", "1GiB"}};
    const char* const warning = "CGPU_MEMORY=\"1GiB\": cgpu knows no such variable";
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(service->create_instance({"aaaa", "x", typo, caller, {}}));
    EXPECT_EQ(lines_with(warning), 1U);
    loop.advance(Repeated::kFirstPause);
    EXPECT_EQ(lines_with(warning), 2U);
    EXPECT_EQ(lines_with("999"), 1U) << written_.str();

    // Nothing happens by a trial, so nothing is to be told of.
    loop.advance(3 * Repeated::kLongestPause);
    ASSERT_TRUE(service->create_instance({"aaaa", "x", typo, caller, {.dry_run = true}}));
    EXPECT_EQ(lines_with(warning), 2U);
    ASSERT_TRUE(service->create_instance({"aaaa", "x", typo, caller, {}}));
    EXPECT_EQ(lines_with(warning), 3U);
}

TEST_F(ServiceLog, WhatTheDiskRefusesIsToldOnceAndTriedAgainInSilence) {
    see_v100();
    ASSERT_TRUE(create("aaaa", "4"));
    ASSERT_TRUE(create("bbbb", "4"));
    processes.living.insert({200, 300});
    ASSERT_TRUE(attach("bbbb", 200));
    links.members[*model::InstanceId::parse("bbbb")] = {300, 7, "boot"};
    store.full = true;
    processes.kill(100);
    processes.kill(200);
    for (int second = 0; second < 100; ++second) loop.advance(1'000'000'000);
    EXPECT_EQ(lines_with("has ended but stays listed"), 1U);
    EXPECT_EQ(lines_with("the state still has that one"), 1U);
}

TEST_F(ServiceLog, AWeightWithoutEffectIsToldWhicheverCallSetsIt) {
    see_v100();
    for (const std::string id : {"aaaa", "bbbb"}) ASSERT_TRUE(create(id, "4"));
    ASSERT_TRUE(service->changes().make(GpuChange{.gpu = "0", .policy = "preemptive"}, {}));
    const std::string told = "has no effect on GPU 0 under policy preemptive";
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = "aaaa", .weight = 3}, {}));
    EXPECT_EQ(lines_with("weight 3 " + told), 1U) << written_.str();
    ASSERT_TRUE(service->changes().apply(
        {QuotaChange{.instance = "aaaa", .weight = 4}, QuotaChange{.instance = "bbbb", .weight = 4}}, {}));
    EXPECT_EQ(lines_with("weight 4 " + told), 2U) << written_.str();
    // Neither what changes nothing, nor what is only tried, nor a change of something else.
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = "aaaa", .weight = 4}, {}));
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = "aaaa", .weight = 5}, {.dry_run = true}));
    ASSERT_TRUE(service->changes().make(QuotaChange{.instance = "aaaa", .high_priority = true}, {}));
    EXPECT_EQ(lines_with(told), 3U) << written_.str();
}

}  // namespace
}  // namespace cgpu::app::test
