#include "daemon/app/ports/log.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>

namespace cgpu {
namespace {

/// The daemon's default logger, replaced during a test by one that keeps its lines.
class Log : public testing::Test {
  protected:
    Log() {
        auto logger = std::make_shared<spdlog::logger>(
            "test", std::make_shared<spdlog::sinks::ostream_sink_st>(written));
        logger->set_pattern("%l: %v");
        spdlog::set_default_logger(logger);
        spdlog::set_level(spdlog::level::debug);
    }
    ~Log() override {
        spdlog::set_level(spdlog::level::info);
        spdlog::set_default_logger(before);
    }

    std::shared_ptr<spdlog::logger> before = spdlog::default_logger();
    std::ostringstream written;
};

TEST_F(Log, WritesEachLevelAsSpdlogNamesIt) {
    log::debug("GPU {}: {}", 0, "looked at");
    log::info("instance {}: admitted", "3f2a");
    log::warn("no values");
    log::error("{:.1f} s", 2.25);
    log::critical("{}", true);
    EXPECT_EQ(written.str(),
              "debug: GPU 0: looked at\ninfo: instance 3f2a: admitted\nwarning: no values\nerror: 2.2 s\n"
              "critical: true\n");
}

// Found as an instance's name that wrote a line of its own.
TEST_F(Log, ControlCharactersAreEscaped) {
    log::info("instance {} ({}): gone", "3f2a", "web\n00:00:00 error: \x1b[31mfire\x7f, größer");
    EXPECT_EQ(written.str(),
              "info: instance 3f2a (web\\x0a00:00:00 error: \\x1b[31mfire\\x7f, größer): gone\n");
}

TEST_F(Log, LeavesOutWhatIsBelowTheLevel) {
    spdlog::set_level(spdlog::level::warn);
    log::debug("{}", 1);
    log::info("{}", 2);
    log::line(log::Level::info, "three");
    log::warn("{}", 4);
    EXPECT_EQ(written.str(), "warning: 4\n");
}

std::string passed_on;

TEST_F(Log, AnOutletGetsWhatALineIsAbout) {
    log::set_outlet([](log::Level, std::string_view line, const log::Subject& about) {
        passed_on += about.instance + "/" + std::to_string(about.process) + ": " + std::string(line) + "\n";
    });
    log::warn(log::Subject{.instance = "3f2a", .process = 7}, "{} of it", "some\n");
    log::line(log::Level::info, "nothing");
    log::set_outlet(nullptr);
    EXPECT_EQ(passed_on, "3f2a/7: some\\x0a of it\n/0: nothing\n");
    EXPECT_EQ(written.str(), "");
}

TEST_F(Log, WritesAFinishedLineAsItIs) {
    log::line(log::Level::info, "instance {}: said {0} and }");
    log::info("{}", "a value with {} in it");
    EXPECT_EQ(written.str(), "info: instance {}: said {0} and }\ninfo: a value with {} in it\n");
}

}  // namespace
}  // namespace cgpu
