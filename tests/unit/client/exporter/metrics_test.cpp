#include "client/exporter/metrics.hpp"

#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include "client/exporter/collector.hpp"
#include "tests/unit/client/support/fake_node.hpp"

namespace cgpu::exporter {
namespace {

using cgpuctl::kMib;
using cgpuctl::kUuid1;
using cgpuctl::two_gpus;
using Samples = std::set<std::string>;

/// The lines with values, in Prometheus's text format.
Samples samples_of(const std::vector<prometheus::MetricFamily>& families) {
    std::istringstream text(prometheus::TextSerializer().prometheus::Serializer::Serialize(families));
    Samples samples;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with('#')) continue;
        EXPECT_TRUE(samples.insert(line).second) << line;
    }
    return samples;
}

const std::string kGpu0 = R"(gpu="0",uuid="GPU-00000000-0000-0000-0000-000000000000")";
const std::string kGpu1 = R"(gpu="1",uuid="GPU-11111111-1111-1111-1111-111111111111")";
const std::string kWeb = R"(container_id="0123456789abcdef0123456789abcdef",container="web")";
const std::string kWebOn0 = kGpu0 + "," + kWeb;

std::string sample(const std::string& name, const std::string& labels, const std::string& value) {
    return name + "{" + labels + "} " + value;
}

/// Whether any sample is of this metric.
bool has(const Samples& samples, const std::string& name) {
    const auto found = samples.lower_bound(name);
    return found != samples.end() && (found->starts_with(name + "{") || found->starts_with(name + " "));
}

void expect_all(const Samples& samples, const Samples& wanted) {
    for (const std::string& line : wanted) EXPECT_TRUE(samples.contains(line)) << line;
}

TEST(Metrics, OfEachGpu) {
    const auto samples = samples_of(metrics_of(two_gpus()));
    expect_all(
        samples,
        {"cgpud_up 1", R"(cgpud_build_info{version="1.2.3",module_version="1.2.0"} 1)",
         sample("cgpu_gpu_info", kGpu0 + R"(,model="Tesla V100-SXM2-16GB",mode="memory+compute")", "1"),
         sample("cgpu_gpu_policy_info", kGpu0 + R"(,policy="weighted",number="2")", "1"),
         sample("cgpu_gpu_memory_total_bytes", kGpu0, std::to_string(16130 * kMib)),
         sample("cgpu_gpu_memory_allocated_bytes", kGpu0, std::to_string(4301 * kMib)),
         sample("cgpu_gpu_memory_used_bytes", kGpu0, std::to_string(200 * kMib)),
         sample("cgpu_gpu_utilization_ratio", kGpu0, "0.333"),
         sample("cgpu_gpu_utilization_ratio", kGpu1, "0"), sample("cgpu_gpu_instances", kGpu0, "1"),
         sample("cgpu_gpu_instances", kGpu1, "0"), sample("cgpu_gpu_instances_max", kGpu0, "20"),
         sample("cgpu_gpu_weight_free", kGpu0, "18"), sample("cgpu_gpu_xid_errors_total", kGpu0, "0"),
         sample("cgpu_gpu_drained", kGpu0, "0"), sample("cgpu_container_paused", kWebOn0, "0")});
}

TEST(Metrics, OfDrainsAndPauses) {
    auto snapshot = two_gpus();
    snapshot.gpus[1].drained = true;
    snapshot.instances[0].gpus[0].quota.paused = true;
    expect_all(samples_of(metrics_of(snapshot)),
               {sample("cgpu_gpu_drained", kGpu0, "0"), sample("cgpu_gpu_drained", kGpu1, "1"),
                sample("cgpu_container_paused", kWebOn0, "1")});
}

TEST(Metrics, OfTheDaemonsEventsAndJob) {
    auto snapshot = two_gpus();
    auto samples = samples_of(metrics_of(snapshot));
    EXPECT_FALSE(has(samples, "cgpud_events_total"));
    EXPECT_FALSE(has(samples, "cgpud_job_info"));
    snapshot.event_counts = {{"instance-admitted", 3}, {"daemon-started", 1}};
    snapshot.job.emplace();
    snapshot.job->kind = "hot";
    snapshot.job->target = "2.0.0";
    snapshot.job->result = "failed";
    expect_all(samples_of(metrics_of(snapshot)),
               {R"(cgpud_events_total{type="instance-admitted"} 3)",
                R"(cgpud_events_total{type="daemon-started"} 1)",
                R"(cgpud_job_info{kind="hot",target="2.0.0",result="failed"} 1)"});
}

TEST(Metrics, OfContainersWithoutALimit) {
    auto snapshot = two_gpus();
    snapshot.unmanaged.push_back({"a", "a", 0, 1, {}, {{cgpuctl::kUuid0, kMib}}});
    snapshot.unmanaged.push_back({"b", "b", 0, 2, {}, {{cgpuctl::kUuid0, 2 * kMib}}});
    expect_all(samples_of(metrics_of(snapshot)),
               {sample("cgpu_gpu_memory_unmanaged_bytes", kGpu0, std::to_string(3 * kMib)),
                sample("cgpu_gpu_memory_unmanaged_bytes", kGpu1, "0")});
}

TEST(Metrics, LabelsOfOthersTextAreBoundedAndOneLine) {
    auto snapshot = two_gpus();
    snapshot.instances[0].name = "a\"b\\c\nd\u202e\xff";
    snapshot.instances[0].image = std::string(500, 'x');
    const auto samples = samples_of(metrics_of(snapshot));
    const std::string id = R"(container_id="0123456789abcdef0123456789abcdef")";
    const std::string labels = id + R"(,container="a\"b\\c?d??")";
    expect_all(samples, {sample("cgpu_container_weight", kGpu0 + "," + labels, "2"),
                         sample("cgpu_container_info",
                                labels + ",image=\"" + std::string(127, 'x') +
                                    "…\",module_version=\"1.2.0\",owner=\"\",declared_owner=\"\"",
                                "1")});
}

TEST(Metrics, TheLedgerGapIsWhatTheAccountsDontExplain) {
    auto snapshot = two_gpus();
    EXPECT_FALSE(has(samples_of(metrics_of(snapshot)), "cgpu_gpu_memory_ledger_gap_bytes"));
    snapshot.gpus[0].memory_in_driver = 500 * kMib;
    snapshot.gpus[0].memory_charged_then = 180 * kMib;
    snapshot.gpus[1].memory_in_driver = 10 * kMib;
    snapshot.gpus[1].memory_charged_then = 12 * kMib;
    snapshot.unmanaged.push_back({"a", "a", 0, 1, {}, {{cgpuctl::kUuid0, 20 * kMib}}});
    auto booking = snapshot.instances[0];
    booking.id = "b";
    booking.managed = false;
    booking.gpus[0].usage.memory_used = 50 * kMib;
    snapshot.instances.push_back(booking);
    expect_all(samples_of(metrics_of(snapshot)),
               {sample("cgpu_gpu_memory_ledger_gap_bytes", kGpu0, std::to_string(250 * kMib)),
                sample("cgpu_gpu_memory_ledger_gap_bytes", kGpu1, "-" + std::to_string(2 * kMib))});
}

TEST(Metrics, WaitsAreAHistogram) {
    auto snapshot = two_gpus();
    auto& usage = snapshot.instances[0].gpus[0].usage;
    auto& waits = usage.launch_waits.counts;
    waits[0] = 3;  // at most 10 us
    waits[4] = 2;  // 1 ms
    waits.back() = 1;
    usage.launch_waits.sum = 12'500'000'000;
    const std::string name = "cgpu_container_launch_wait_seconds";
    const auto samples = samples_of(metrics_of(snapshot));
    const auto bucket = [&](const std::string& le, const std::string& count) {
        return sample(name + "_bucket", kWebOn0 + ",le=\"" + le + "\"", count);
    };
    expect_all(samples, {bucket("1e-05", "3"), bucket("0.0003", "3"), bucket("0.001", "5"), bucket("10", "5"),
                         bucket("+Inf", "6"), sample(name + "_count", kWebOn0, "6"),
                         sample(name + "_sum", kWebOn0, "12.5")});
}

TEST(Metrics, OfEachContainer) {
    auto snapshot = two_gpus();
    auto& usage = snapshot.instances[0].gpus[0].usage;
    usage.allocations_refused = 7;
    usage.processes_outside = {1};
    usage.memory_peak = 777 * kMib;
    usage.launches = 41;
    snapshot.instances[0].image = "train:1";
    usage.memory_unexplained = kMib;
    usage.compute_unexplained = 0.25;
    const auto samples = samples_of(metrics_of(snapshot));
    expect_all(
        samples,
        {sample("cgpu_container_info",
                kWeb + R"(,image="train:1",module_version="1.2.0",owner="",declared_owner="")", "1"),
         sample("cgpu_container_launches_total", kWebOn0, "41"),
         sample("cgpu_container_memory_limit_bytes", kWebOn0, std::to_string(4301 * kMib)),
         sample("cgpu_container_memory_used_bytes", kWebOn0, std::to_string(200 * kMib)),
         sample("cgpu_container_memory_peak_bytes", kWebOn0, std::to_string(777 * kMib)),
         sample("cgpu_container_memory_unexplained_bytes", kWebOn0, std::to_string(kMib)),
         sample("cgpu_container_memory_alloc_failures_total", kWebOn0, "7"),
         sample("cgpu_container_compute_target_ratio", kWebOn0, "1"),
         sample("cgpu_container_compute_unexplained_ratio", kWebOn0, "0.25"),
         sample("cgpu_container_compute_seconds_total", kWebOn0, "1.5"),
         sample("cgpu_container_throttled_seconds_total", kWebOn0, "0.02"),
         sample("cgpu_container_preemptions_total", kWebOn0, "5"),
         sample("cgpu_container_weight", kWebOn0, "2"), sample("cgpu_container_high_priority", kWebOn0, "0"),
         sample("cgpu_container_processes", kWebOn0, "2"),
         sample("cgpu_container_outside_processes", kWebOn0, "1")});
}

TEST(Metrics, WhatIsNotMeasuredIsMissing) {
    auto snapshot = two_gpus();
    snapshot.gpus[0].policy_name = "native";
    auto& usage = snapshot.instances[0].gpus[0].usage;
    usage.target_share = usage.achieved_share = std::nullopt;
    const auto samples = samples_of(metrics_of(snapshot));
    for (const char* name :
         {"cgpu_container_compute_target_ratio", "cgpu_container_compute_seconds_total",
          "cgpu_container_compute_unexplained_ratio", "cgpu_container_throttled_seconds_total",
          "cgpu_container_launches_total", "cgpu_container_launch_wait_seconds_count"})
        EXPECT_FALSE(has(samples, name)) << name;
    EXPECT_FALSE(samples.contains(sample("cgpu_gpu_utilization_ratio", kGpu0, "0")));
    EXPECT_TRUE(samples.contains(sample("cgpu_gpu_utilization_ratio", kGpu1, "0")));
    EXPECT_TRUE(has(samples, "cgpu_container_memory_used_bytes"));
}

TEST(Metrics, AGpuThatIsLostIsMissing) {
    auto snapshot = two_gpus();
    snapshot.gpus[1].present = false;
    const auto samples = samples_of(metrics_of(snapshot));
    for (const std::string& line : samples) EXPECT_EQ(line.find(kUuid1), std::string::npos) << line;
}

TEST(Metrics, AGpuThatIsNotTheContainersHasOnlyWhatItUses) {
    auto snapshot = two_gpus();
    client::ForeignGpu foreign{kUuid1, 1, {}};
    foreign.usage.memory_used = foreign.usage.memory_unexplained = 150 * kMib;
    foreign.usage.processes_outside = {4713};
    snapshot.instances[0].foreign_gpus = {foreign};
    const auto on_1 = kGpu1 + "," + kWeb;
    const auto samples = samples_of(metrics_of(snapshot));
    expect_all(samples, {sample("cgpu_container_memory_used_bytes", on_1, std::to_string(150 * kMib)),
                         sample("cgpu_container_memory_unexplained_bytes", on_1, std::to_string(150 * kMib)),
                         sample("cgpu_container_outside_processes", on_1, "1")});
    EXPECT_FALSE(samples.contains(sample("cgpu_container_memory_limit_bytes", on_1, "0")));
    EXPECT_FALSE(samples.contains(sample("cgpu_container_weight", on_1, "0")));
}

TEST(Metrics, NamesOfOthersCantAddALine) {
    auto snapshot = two_gpus();
    snapshot.instances[0].name = "a\"} 1\ncgpud_up 0";
    const auto samples = samples_of(metrics_of(snapshot));
    EXPECT_FALSE(samples.contains("cgpud_up 0"));
}

TEST(Collector, ShowsNoStaleFiguresWhileCgpudIsAway) {
    client::Result<client::Snapshot> answer = two_gpus();
    std::ostringstream log;
    const Collector collector([&answer] { return answer; }, log);
    EXPECT_GT(samples_of(collector.Collect()).size(), 20U);
    answer = client::fail(client::ClientError::Kind::unreachable, "cgpud: away. Try: start it.");
    EXPECT_EQ(samples_of(collector.Collect()), Samples{"cgpud_up 0"});
    EXPECT_EQ(samples_of(collector.Collect()), Samples{"cgpud_up 0"});
    answer = two_gpus();
    EXPECT_TRUE(samples_of(collector.Collect()).contains("cgpud_up 1"));
    EXPECT_EQ(log.str(), "cgpud: away. Try: start it.\ncgpud answers again.\n");
}

}  // namespace
}  // namespace cgpu::exporter
