#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::cgpuctl::doctor {

/// A machine with two GPUs, whose files are below a folder of the test's own.
class Checks : public testing::Test {
  protected:
    Look look(bool is_root = true) {
        Look look{
            *Host::open(root_.path(), is_root), service_, snapshot_, examination_, "it is old", "1.2.3"};
        if (examination_) look.traces = find_traces(look.host, examination_->runtime_dir);
        return look;
    }
    void program(const std::string& path) const {
        root_.file(path, "#!/bin/sh\n");
        chmod(root_.at(path).c_str(), 0755);
    }
    /// The only finding that isn't ok.
    Finding found(const Findings& findings) {
        Finding bad;
        int count = 0;
        for (const Finding& finding : findings)
            if (finding.level != Level::ok && ++count == 1) bad = finding;
        EXPECT_EQ(count, 1);
        if (bad.level != Level::unchecked) {
            EXPECT_FALSE(bad.why.empty()) << bad.what;
            EXPECT_FALSE(bad.fix.empty()) << bad.what;
        }
        return bad;
    }
    void expect_ok(const Findings& findings) {
        for (const Finding& finding : findings) EXPECT_EQ(finding.level, Level::ok) << finding.what;
        EXPECT_FALSE(findings.empty());
    }

    client::TempRoot root_;
    client::Result<client::ServiceState> service_ = client::ServiceState{true, 0, "active", "", ""};
    std::optional<client::Snapshot> snapshot_ = two_gpus();
    std::optional<client::Examination> examination_ = client::Examination{};
};

}  // namespace cgpu::cgpuctl::doctor
