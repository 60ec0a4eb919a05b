#pragma once

#include <cstring>
#include <fstream>
#include <string>

#include "tests/unit/module/front/support/front_fixture.hpp"

/// A managed process whose engine is exchanged.
class FrontSwitch : public Front {
  protected:
    using Result = cgpu::wire::SwitchResult;

    static constexpr std::uint32_t kPresent = CGPU_PRESENT_VERSION;
    static constexpr std::uint32_t kNext = CGPU_NEXT_VERSION;
    static constexpr std::uint32_t kDeadlineMs = 20'000;

    /// Has the daemon send the order.
    void order(const std::string& file, std::uint32_t version, std::uint32_t deadline_ms = kDeadlineMs) {
        std::strncpy(daemon().switch_engine, file.c_str(), sizeof daemon().switch_engine - 1);
        daemon().switch_version = version;
        daemon().switch_deadline_ms = deadline_ms;
        daemon().switch_request = ++request_;
    }
    /// Has the daemon send the order, and waits for the answer.
    Result go_over(const std::string& file, std::uint32_t version, std::uint32_t deadline_ms = kDeadlineMs) {
        order(file, version, deadline_ms);
        EXPECT_TRUE(eventually([&] { return daemon().switched_request == request_; })) << file;
        return static_cast<Result>(daemon().switched_result.load());
    }
    Result go_to_next() { return go_over("next.so", kNext); }
    Result go_to_present() { return go_over("present.so", kPresent); }

    std::uint32_t running() { return daemon().running_version; }
    std::string detail() { return daemon().switched_detail; }

    /// Whether a file of the engines' folder is mapped into this process.
    static bool is_mapped(const std::string& file) {
        std::ifstream maps("/proc/self/maps");
        const std::string path = CGPU_TEST_ENGINES "/" + file;
        for (std::string line; std::getline(maps, line);)
            if (line.ends_with(path)) return true;
        return false;
    }

    std::uint64_t request_ = 0;
};
