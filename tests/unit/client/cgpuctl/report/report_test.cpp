#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "client/cgpuctl/report/plot_parts.hpp"
#include "client/cgpuctl/report/report.hpp"
#include "client/cgpuctl/report/request.hpp"
#include "client/cgpuctl/report/xml_text.hpp"
#include "core/history/ring.hpp"
#include "tests/unit/client/support/verb_bed.hpp"
#include "tests/unit/core/history/records.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::cgpuctl {
namespace {

using history::kSecondUs;

/// 2026-01-31 00:00 UTC
constexpr std::uint64_t kMidnight = 1769817600;

class ReportTest : public VerbTest<ReportInput> {
  protected:
    ReportTest() {
        setenv("TZ", "UTC", 1);
        tzset();
    }
    std::string report() {
        node_.history_file = history::make_ring(records_, 64);
        const auto done = call(&report_verb);
        EXPECT_TRUE(done) << done.error().text;
        return screen_.out.str();
    }
    void add(std::uint64_t begin_s, const std::string& name, double gpu_s) {
        auto record = history::minute(begin_s, name, gpu_s);
        record.number = records_.size() + 1;
        record.memory_limit = 4301 * kMib;
        record.memory_peak = 200 * kMib;
        record.memory_granted = history::mib_ms(record.memory_limit, record.duration_us);
        records_.push_back(record);
    }
    /// Two tenants in the last minute of a day, and one in the first of the next.
    void two_days() {
        add(kMidnight - 60, "web", 15);
        add(kMidnight - 60, "train", 42);
        add(kMidnight, "train", 60);
        records_[0].refused = 3;
        records_[0].refused_starts = 2;
        records_[1].instances.began = records_[1].on_first_gpu.began = 1;
        records_[1].memory_used = history::mib_ms(400 * kMib, 90 * kSecondUs);
        records_[1].waited_ns = 1'500'000'000;
    }

    std::vector<history::Record> records_;
};

TEST_F(ReportTest, PrintsATable) {
    two_days();
    EXPECT_EQ(
        report(),
        "NAME   OWNER  STARTS  DENIED  GPU-TIME  DUE  GOT  WAITED  MEMORY-PEAK       GIB-HOURS    REFUSED\n"
        "train  -      1       0       102.00s   50%  85%  1.50s   200MiB / 4301MiB  0.01 / 0.14  0\n"
        "web    -      0       2       15.00s    50%  25%  0.00s   200MiB / 4301MiB  0.00 / 0.07  3\n");
}

TEST_F(ReportTest, AUsersNameIsNoBillOfAnothers) {
    add(kMidnight, "bobs", 2);
    add(kMidnight, "bobs", 60);
    records_[0].owner.user = 2002;
    records_[1].owner.user = 2001;
    records_[1].instance = "another";
    EXPECT_EQ(
        report(),
        "NAME  OWNER  STARTS  DENIED  GPU-TIME  DUE  GOT   WAITED  MEMORY-PEAK       GIB-HOURS    REFUSED\n"
        "bobs  2001   0       0       60.00s    50%  100%  0.00s   200MiB / 4301MiB  0.00 / 0.07  0\n"
        "bobs  2002   0       0       2.00s     50%  3.3%  0.00s   200MiB / 4301MiB  0.00 / 0.07  0\n");
    screen_.out.str("");
    input_.svg = "-";
    const std::string picture = report();
    EXPECT_NE(picture.find("bobs (user id 2001)"), std::string::npos);
    EXPECT_NE(picture.find("bobs (user id 2002)"), std::string::npos);
    screen_.out.str("");
    input_.svg.clear();
    input_.csv = true;
    const std::string csv = report();
    EXPECT_NE(csv.find(",present_seconds,owner,declared_owner\n"), std::string::npos) << csv;
    EXPECT_NE(csv.find(",60.000000,2001,\n"), std::string::npos) << csv;
    screen_.out.str("");
    input_.csv = false;
    input_.json = true;
    const auto rows = nlohmann::json::parse(report())["rows"];
    EXPECT_EQ(rows[1]["owner"], 2002);
    EXPECT_EQ(rows[1]["gpu_seconds"], 2);
}

TEST_F(ReportTest, PrintsDays) {
    two_days();
    input_.by = "day";
    input_.no_legend = true;
    EXPECT_EQ(report(),
              "2026-01-30  1  2  57.00s  100%  95%   1.50s  200MiB / 4301MiB  0.01 / 0.14  3\n"
              "2026-01-31  0  0  60.00s  50%   100%  0.00s  200MiB / 4301MiB  0.00 / 0.07  0\n");
}

TEST_F(ReportTest, CountsTheAskedTimeOnly) {
    two_days();
    input_.since = "@" + std::to_string(kMidnight - 30);
    input_.until = "@" + std::to_string(kMidnight + 30);
    input_.csv = true;
    EXPECT_EQ(
        report(),
        "name,instances,starts,starts_refused,gpu_seconds,reported_seconds,granted_seconds,due_seconds,"
        "waited_seconds,share_due,"
        "share_got,launches,memory_peak_bytes,memory_limit_bytes,memory_granted_gib_hours,memory_used_"
        "gib_hours,allocations_refused,present_seconds,owner,"
        "declared_owner\n"
        "train,1,1,0,51.000000000,51.000000000,0.000000000,30.000000000,0.750000000,0.500000,0.850000,0,"
        "209715200,4509925376,0.070003,0.004883,0,60.000000,,\n"
        "web,1,0,2,7.500000000,7.500000000,0.000000000,15.000000000,0.000000000,0.500000,0.250000,0,"
        "209715200,4509925376,0.035002,0.000000,3,30.000000,,\n");
}

TEST_F(ReportTest, QuotesNamesInCsv) {
    add(kMidnight, "a,\"b\"\n", 1);
    input_.csv = true;
    add(kMidnight, "=cmd|' /C calc'!A0", 1);
    const std::string csv = report();
    EXPECT_NE(csv.find("\n\"a,\"\"b\"\"?\",1,"), std::string::npos) << csv;
    EXPECT_NE(csv.find("\n\"'=cmd|' /C calc'!A0\",1,"), std::string::npos) << csv;
}

TEST_F(ReportTest, PrintsJson) {
    two_days();
    records_[2].measured = false;
    input_.by = "gpu";
    input_.json = true;
    const auto json = nlohmann::json::parse(report());
    EXPECT_EQ(json["by"], "gpu");
    EXPECT_EQ(json["since"], kMidnight - 60);
    ASSERT_EQ(json["rows"].size(), 1U);
    EXPECT_EQ(json["rows"][0]["gpu"], "0");
    EXPECT_EQ(json["rows"][0]["uuid"], history::gpu_of(0).to_string());
    EXPECT_EQ(json["rows"][0]["gpu_seconds"], 117);
    EXPECT_EQ(json["rows"][0]["instances"], 2);
    EXPECT_EQ(json["rows"][0]["allocations_refused"], 3);
}

TEST_F(ReportTest, ANativeGpuHasNoShares) {
    add(kMidnight, "web", 0);
    records_[0].measured = false;
    EXPECT_NE(report().find("web   -      0       0       0.00s     native  native  "), std::string::npos)
        << screen_.out.str();
    input_.json = true;
    screen_.out.str("");
    EXPECT_TRUE(nlohmann::json::parse(report())["rows"][0]["share_got"].is_null());
}

TEST_F(ReportTest, WhoWasOnlyRefusedHadNoShareAndNoGpu) {
    add(kMidnight, "web", 0);
    records_[0].gpu = {};
    records_[0].instance.clear();
    records_[0].present_us = 0;
    records_[0].measured = false;
    records_[0].instances = records_[0].on_first_gpu = {};
    records_[0].refused_starts = 2;
    EXPECT_NE(report().find("web   -      0       2       0.00s     -    -    "), std::string::npos)
        << screen_.out.str();
}

TEST_F(ReportTest, BeforeTheFirstRecordNothingIs) {
    two_days();
    input_.until = "@" + std::to_string(kMidnight - 60);
    input_.no_legend = true;
    EXPECT_EQ(report(), "");
    EXPECT_NE(screen_.err.str().find("Nothing had a GPU"), std::string::npos) << screen_.err.str();
    input_.svg = "-";
    EXPECT_TRUE(report().starts_with("<svg"));
}

TEST_F(ReportTest, SaysWhatIsMissing) {
    report();
    EXPECT_NE(screen_.err.str().find("no records yet"), std::string::npos) << screen_.err.str();
    two_days();
    for (auto& record : records_) record.number += 100;
    input_.since = "@5";
    report();
    EXPECT_NE(screen_.err.str().find("The history begins at 2026-01-30 23:59"), std::string::npos)
        << screen_.err.str();
    input_.since = "1h";
    report();
    EXPECT_NE(screen_.err.str().find("Nothing had a GPU"), std::string::npos) << screen_.err.str();
}

/// Until the clock was set right, records got a time that is still to come. They are in the report, and it
/// says so.
TEST_F(ReportTest, WhatWasWrittenWhileTheClockWasAheadIsReported) {
    two_days();
    const auto ahead = static_cast<std::uint64_t>(time(nullptr)) + std::uint64_t{10} * 86400;
    add(ahead, "ahead", 30);
    EXPECT_NE(report().find("ahead "), std::string::npos) << screen_.out.str();
    EXPECT_NE(screen_.err.str().find("1 record is of a time that is still to come, until "),
              std::string::npos)
        << screen_.err.str();
    EXPECT_NE(screen_.err.str().find("The report counts it."), std::string::npos) << screen_.err.str();
    for (auto* asked : {&input_.since, &input_.until}) {
        screen_.out.str("");
        screen_.err.str("");
        input_.since.clear();
        *asked = asked == &input_.since ? "@5" : "now";
        EXPECT_EQ(report().find("ahead "), std::string::npos) << screen_.out.str();
        EXPECT_NE(screen_.err.str().find("they count only where"), std::string::npos) << screen_.err.str();
    }
}

TEST_F(ReportTest, SumsOfDaysAreForTheTimeWhoseRecordsAreLost) {
    two_days();
    std::vector<history::Record> sums;
    for (const auto& record : records_) {
        sums.push_back(history::sum_of(record, record.name));
        sums.back().number = sums.size();
    }
    node_.days_file = history::make_ring(sums, 64);
    records_.erase(records_.begin(), records_.begin() + 2);
    input_.by = "day";
    input_.no_legend = true;
    EXPECT_EQ(report(),
              "2026-01-30  1  2  57.00s  100%  95%   1.50s  200MiB / 4301MiB  0.01 / 0.14  3\n"
              "2026-01-31  0  0  60.00s  50%   100%  0.00s  200MiB / 4301MiB  0.00 / 0.07  0\n");
    EXPECT_EQ(screen_.err.str(), "");
}

TEST_F(ReportTest, HasRowsOfSeveralDimensions) {
    two_days();
    records_[1].owner.user = records_[2].owner.user = 2001;
    input_.by = "user,day";
    input_.csv = true;
    const std::string csv = report();
    EXPECT_TRUE(csv.starts_with("user,day,instances,starts,")) << csv;
    EXPECT_NE(csv.find("\n2001,2026-01-30,1,1,0,42.000000000,"), std::string::npos) << csv;
    EXPECT_NE(csv.find("\n2001,2026-01-31,1,0,0,60.000000000,"), std::string::npos) << csv;
    screen_.out.str("");
    input_.csv = false;
    input_.json = true;
    input_.by = "day,gpu,name";
    const auto json = nlohmann::json::parse(report());
    EXPECT_EQ(json["by"], "day,gpu,name");
    ASSERT_EQ(json["rows"].size(), 3U);
    EXPECT_EQ(json["rows"][0]["day"], "2026-01-30");
    EXPECT_EQ(json["rows"][0]["name"], "train");
    EXPECT_EQ(json["rows"][0]["uuid"], history::gpu_of(0).to_string());
    EXPECT_EQ(json["rows"][2]["day"], "2026-01-31");
}

TEST_F(ReportTest, RefusesAFileThatIsNoHistory) {
    node_.history_file = std::vector<std::byte>(3000, std::byte{9});
    const auto done = call(&report_verb);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find("is no history. Try: "), std::string::npos);
    node_.history_file = client::fail(client::ClientError::Kind::refused, "history: history_mib is 0");
    EXPECT_EQ(call(&report_verb).error().text, "history: history_mib is 0");
}

TEST_F(ReportTest, RefusesWrongValues) {
    const auto refused = [&](const ReportInput& input) {
        const auto request = report::parse_request(input, kMidnight * kSecondUs);
        EXPECT_FALSE(request);
        return request ? std::string() : request.error().text;
    };
    ReportInput input;
    input.by = "colour";
    EXPECT_EQ(refused(input), "--by \"colour\": it is none of name, gpu, day and user. Try: --by user,day.");
    input = {};
    input.until = "never";
    EXPECT_NE(refused(input).find("--until \"never\": it is no time. Try: "), std::string::npos);
    input = {};
    input.since = "1h";
    input.until = "2h";
    EXPECT_NE(refused(input).find("it is not before --until \"2h\". Try: "), std::string::npos);
    input.since.clear();
    input.until = "@0";
    EXPECT_EQ(refused(input), "--until \"@0\": nothing is from before it. Try: --until today.");
    input = {};
    input.csv = input.json = true;
    EXPECT_NE(refused(input).find("a report has one form. Try: "), std::string::npos);
    input = {};
    input.svg = "-";
    input.json = true;
    EXPECT_NE(refused(input).find("--svg -: "), std::string::npos);
}

TEST_F(ReportTest, DrawsAPlot) {
    two_days();
    add(kMidnight, "<&\"\x1b[31m\xff", 3);
    input_.svg = "-";
    input_.until = "@" + std::to_string(kMidnight + 60);
    const auto svg = report();
    EXPECT_EQ(svg.find('\x1b'), std::string::npos);
    EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_NE(svg.find("train: 3.5 s from 23:59:00"), std::string::npos);
    EXPECT_NE(svg.find("&lt;&amp;&quot;?[31m?"), std::string::npos);
    EXPECT_NE(svg.find("85% got, 50% due"), std::string::npos);
    // No letter of a font, a script or a picture from elsewhere.
    EXPECT_EQ(svg.find("http", 30), std::string::npos);
    screen_.out.str("");
    EXPECT_EQ(report(), svg) << "the same history gives the same picture";
}

TEST_F(ReportTest, WritesAPlotBesideTheTable) {
    two_days();
    const test::TempFolder folder;
    input_.svg = folder / "plot.svg";
    EXPECT_TRUE(report().starts_with("NAME"));
    EXPECT_TRUE(test::read_text(folder / "plot.svg").starts_with("<svg"));
    input_.svg = folder / "missing/plot.svg";
    EXPECT_NE(call(&report_verb).error().text.find("it can't be written. Try: "), std::string::npos);
}

TEST_F(ReportTest, APlotOfManyNamesHasAsManyColoursAsCanBeToldApart) {
    for (int i = 0; i < 30; ++i) add(kMidnight, "job-" + std::to_string(i), 1 + i);
    input_.svg = "-";
    const auto svg = report();
    EXPECT_NE(svg.find(">23 others<"), std::string::npos);
    EXPECT_NE(svg.find(">and 10 more<"), std::string::npos);
}

TEST_F(ReportTest, PartsOfAPlotAreRoundAndNotTooMany) {
    for (const std::uint64_t length : {1U, 59U, 600U, 3600U, 86'400U, 7 * 86'400U, 400 * 86'400U}) {
        const history::Span span{(kMidnight + 7) * kSecondUs, (kMidnight + 7 + length) * kSecondUs};
        const auto parts = report::plot_parts(span, false, 96);
        EXPECT_LE(parts.count, 96U) << length;
        EXPECT_LE(parts.span.from_us, span.from_us);
        EXPECT_GE(parts.span.to_us, span.to_us);
        EXPECT_EQ((parts.span.to_us - parts.span.from_us) % parts.count, 0U);
    }
    const auto days =
        report::plot_parts({(kMidnight - 60) * kSecondUs, (kMidnight + 60) * kSecondUs}, true, 96);
    EXPECT_EQ(days.count, 2U);
    EXPECT_EQ(days.span.from_us, (kMidnight - 86'400) * kSecondUs);
    EXPECT_EQ(report::plot_parts({0, 1}, true, 96).count, 1U);
    EXPECT_EQ(report::plot_parts({0, kSecondUs * 86'400 * 365 * 50}, true, 96).count <= 96, true);
}

TEST(XmlText, LetsNoWrongCharacterThrough) {
    EXPECT_EQ(report::xml_text("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
    EXPECT_EQ(report::xml_text("\u00e4\u20ac\U0001F600"), "\u00e4\u20ac\U0001F600");
    EXPECT_EQ(report::xml_text(std::string("\0\t\x7f", 3)), "???");
    EXPECT_EQ(report::xml_text("\xc0\x80|\xed\xa0\x80|\xef\xbf\xbf|\xf4\x90\x80\x80|\xe2\x82"),
              "??|???|?|????|??");
}

}  // namespace
}  // namespace cgpu::cgpuctl
