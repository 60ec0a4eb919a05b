#include "client/exporter/metrics.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/printable.hpp"

namespace cgpu::exporter {
namespace {

using client::ForeignGpu;
using client::Gpu;
using client::Instance;
using client::OnGpu;
using client::Quota;
using client::Snapshot;
using client::Usage;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;
using Value = std::optional<double>;

constexpr auto kGauge = MetricType::Gauge;
constexpr auto kCounter = MetricType::Counter;

/// The columns of a label whose text others chose, at most; images have the longest names.
constexpr std::size_t kMostInLabel = 128;

/// The serializer escapes quotes, backslashes and ends of lines; Prometheus takes UTF-8 only, and people read
/// labels in terminals and browsers.
std::string label(std::string_view text) { return model::shortened(model::printable(text), kMostInLabel); }

double number(std::uint64_t value) { return static_cast<double>(value); }
double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

// --- the tables

struct GpuMetric {
    const char* name;
    const char* help;
    MetricType type;
    Value (*value)(const Snapshot&, const Gpu&);
};

double instances_on(const Snapshot& snapshot, const Gpu& gpu) {
    return static_cast<double>(std::ranges::count_if(
        snapshot.instances, [&gpu](const Instance& instance) { return instance.on(gpu.uuid) != nullptr; }));
}

std::uint64_t unmanaged_memory(const Snapshot& snapshot, const Gpu& gpu) {
    std::uint64_t sum = 0;
    for (const client::UnmanagedContainer& container : snapshot.unmanaged)
        if (const auto held = container.memory.find(gpu.uuid); held != container.memory.end())
            sum += held->second;
    return sum;
}

/// Also of those that book GPUs.
std::uint64_t all_unmanaged_memory(const Snapshot& snapshot, const Gpu& gpu) {
    std::uint64_t sum = unmanaged_memory(snapshot, gpu);
    for (const Instance& instance : snapshot.instances)
        if (const OnGpu* place = instance.on(gpu.uuid); place != nullptr && !instance.managed)
            sum += place->usage.memory_used;
    return sum;
}

Value ledger_gap(const Snapshot& snapshot, const Gpu& gpu) {
    if (!gpu.memory_in_driver) return std::nullopt;
    return number(*gpu.memory_in_driver) - number(gpu.memory_charged_then) -
           number(all_unmanaged_memory(snapshot, gpu));
}

Value utilization(const Snapshot& snapshot, const Gpu& gpu) {
    if (!gpu.is_measured()) return std::nullopt;
    double sum = 0;
    for (const Instance& instance : snapshot.instances)
        if (const OnGpu* place = instance.on(gpu.uuid)) sum += place->usage.achieved_share.value_or(0);
    return std::min(sum, 1.0);
}

constexpr std::array kGpuMetrics = {
    GpuMetric{"cgpu_gpu_memory_total_bytes", "Memory that can be allocated on the card.", kGauge,
              [](const Snapshot&, const Gpu& gpu) -> Value { return number(gpu.memory_total); }},
    GpuMetric{"cgpu_gpu_memory_allocated_bytes", "Sum of the memory limits of the containers on the GPU.",
              kGauge, [](const Snapshot&, const Gpu& gpu) -> Value { return number(gpu.memory_allocated); }},
    GpuMetric{"cgpu_gpu_memory_used_bytes", "Memory that the containers on the GPU use.", kGauge,
              [](const Snapshot&, const Gpu& gpu) -> Value { return number(gpu.memory_used); }},
    GpuMetric{"cgpu_gpu_memory_unmanaged_bytes",
              "Memory that containers without a limit hold on the GPU, by the driver's figures.", kGauge,
              [](const Snapshot& snapshot, const Gpu& gpu) -> Value {
                  return number(unmanaged_memory(snapshot, gpu));
              }},
    GpuMetric{
        "cgpu_gpu_memory_ledger_gap_bytes",
        "Memory that the driver shows as used on the card, minus what containers use by cgpud's accounts "
        "and containers without a limit hold: other programs', and where the accounts differ from the "
        "driver. As of cgpud's last query, every ten seconds.",
        kGauge, &ledger_gap},
    GpuMetric{"cgpu_gpu_utilization_ratio",
              "Part of the GPU's time that its containers used, over about the last two seconds. Missing "
              "while the driver "
              "divides the compute.",
              kGauge, &utilization},
    GpuMetric{"cgpu_gpu_instances", "Containers on the GPU.", kGauge,
              [](const Snapshot& snapshot, const Gpu& gpu) -> Value { return instances_on(snapshot, gpu); }},
    GpuMetric{"cgpu_gpu_instances_max", "Containers that the GPU takes; also the slices of its period.",
              kGauge, [](const Snapshot&, const Gpu& gpu) -> Value { return number(gpu.max_inst); }},
    GpuMetric{"cgpu_gpu_weight_free", "Slices of the GPU's period that no container has.", kGauge,
              [](const Snapshot&, const Gpu& gpu) -> Value { return number(gpu.free_weight); }},
    GpuMetric{"cgpu_gpu_drained", "1 if the GPU takes no new container, because it is drained.", kGauge,
              [](const Snapshot&, const Gpu& gpu) -> Value { return gpu.drained ? 1 : 0; }},
    GpuMetric{"cgpu_gpu_xid_errors_total",
              "Errors of the GPU that its driver has reported since cgpud was started.", kCounter,
              [](const Snapshot&, const Gpu& gpu) -> Value { return number(gpu.xid_errors); }},
};

/// `quota`: null on a GPU that isn't the container's.
struct ContainerMetric {
    const char* name;
    const char* help;
    MetricType type;
    Value (*value)(const Quota* quota, const Usage& usage);
};

/// Times stand still while the driver divides the compute.
Value seconds(const Usage& usage, std::uint64_t nanoseconds) {
    return usage.target_share ? Value(number(nanoseconds) / 1e9) : std::nullopt;
}

constexpr std::array kContainerMetrics = {
    ContainerMetric{"cgpu_container_memory_limit_bytes", "Memory limit on the GPU.", kGauge,
                    [](const Quota* quota, const Usage&) -> Value {
                        return quota == nullptr ? std::nullopt : Value(number(quota->memory_limit));
                    }},
    ContainerMetric{"cgpu_container_memory_used_bytes", "Memory that it uses on the GPU.", kGauge,
                    [](const Quota*, const Usage& usage) -> Value { return number(usage.memory_used); }},
    ContainerMetric{"cgpu_container_memory_peak_bytes",
                    "The most memory that it has used on the GPU since it was created, or cgpud was started.",
                    kGauge,
                    [](const Quota*, const Usage& usage) -> Value { return number(usage.memory_peak); }},
    ContainerMetric{
        "cgpu_container_memory_unexplained_bytes",
        "Part of the used memory that its processes got without the module.", kGauge,
        [](const Quota*, const Usage& usage) -> Value { return number(usage.memory_unexplained); }},
    ContainerMetric{"cgpu_container_memory_alloc_failures_total",
                    "Calls that were answered with 'out of memory' because of the memory limit.", kCounter,
                    [](const Quota* quota, const Usage& usage) -> Value {
                        return quota == nullptr ? std::nullopt : Value(number(usage.allocations_refused));
                    }},
    ContainerMetric{
        "cgpu_container_compute_target_ratio",
        "Share of the GPU that the policy gives it now. Missing while the driver divides the compute.",
        kGauge, [](const Quota*, const Usage& usage) -> Value { return usage.target_share; }},
    ContainerMetric{"cgpu_container_compute_unexplained_ratio",
                    "Part of the GPU's time that it uses beyond what its processes report, by the driver's "
                    "samples. Missing while the driver divides the compute.",
                    kGauge,
                    [](const Quota*, const Usage& usage) -> Value { return usage.compute_unexplained; }},
    ContainerMetric{"cgpu_container_compute_seconds_total",
                    "GPU time that it used. Missing while the driver divides the compute.", kCounter,
                    [](const Quota*, const Usage& usage) -> Value { return seconds(usage, usage.gpu_time); }},
    ContainerMetric{
        "cgpu_container_throttled_seconds_total",
        "Time that its launches waited for its turn. Missing while the driver divides the compute.", kCounter,
        [](const Quota*, const Usage& usage) -> Value { return seconds(usage, usage.waited); }},
    ContainerMetric{"cgpu_container_launches_total",
                    "Launches that passed. Missing while the driver divides the compute.", kCounter,
                    [](const Quota*, const Usage& usage) -> Value {
                        return usage.target_share ? Value(number(usage.launches)) : std::nullopt;
                    }},
    ContainerMetric{"cgpu_container_preemptions_total", "Its turns that other containers cut short.",
                    kCounter,
                    [](const Quota* quota, const Usage& usage) -> Value {
                        return quota == nullptr ? std::nullopt : Value(number(usage.preemptions));
                    }},
    ContainerMetric{"cgpu_container_weight", "Its weight, in slices.", kGauge,
                    [](const Quota* quota, const Usage&) -> Value {
                        return quota == nullptr ? std::nullopt : Value(number(quota->weight));
                    }},
    ContainerMetric{"cgpu_container_high_priority", "1 if it has high priority, else 0.", kGauge,
                    [](const Quota* quota, const Usage&) -> Value {
                        return quota == nullptr ? std::nullopt : Value(quota->high_priority ? 1 : 0);
                    }},
    ContainerMetric{"cgpu_container_paused", "1 if it is paused, else 0.", kGauge,
                    [](const Quota* quota, const Usage&) -> Value {
                        return quota == nullptr ? std::nullopt : Value(quota->paused ? 1 : 0);
                    }},
    ContainerMetric{"cgpu_container_processes", "Its processes that use the GPU by the module.", kGauge,
                    [](const Quota*, const Usage& usage) -> Value { return number(usage.processes.size()); }},
    ContainerMetric{
        "cgpu_container_outside_processes", "Its processes that use the GPU outside the module.", kGauge,
        [](const Quota*, const Usage& usage) -> Value { return number(usage.processes_outside.size()); }},
};

// --- from the tables to families

MetricFamily family(const char* name, const char* help, MetricType type) { return {name, help, type, {}}; }

void add(MetricFamily& family, Labels labels, Value value) {
    if (!value) return;
    ClientMetric metric;
    metric.label = std::move(labels);
    if (family.type == kCounter)
        metric.counter.value = *value;
    else
        metric.gauge.value = *value;
    family.metric.push_back(std::move(metric));
}

void keep(std::vector<MetricFamily>& families, MetricFamily&& family) {
    if (!family.metric.empty()) families.push_back(std::move(family));
}

Labels labels_of(std::uint32_t index, const std::string& uuid) {
    return {{"gpu", std::to_string(index)}, {"uuid", uuid}};
}
Labels labels_of(const Instance& instance) {
    return {{"container_id", instance.id}, {"container", label(instance.name)}};
}
Labels joined(Labels labels, const Labels& more) {
    labels.insert(labels.end(), more.begin(), more.end());
    return labels;
}

void add_gpus(std::vector<MetricFamily>& families, const Snapshot& snapshot) {
    auto info = family("cgpu_gpu_info", "Model and mode of the GPU; always 1.", kGauge);
    auto policy =
        family("cgpu_gpu_policy_info", "The policy by which the GPU's compute is divided; always 1.", kGauge);
    for (const Gpu& gpu : snapshot.gpus) {
        if (!gpu.present) continue;
        const auto labels = labels_of(gpu.index, gpu.uuid);
        add(info, joined(labels, {{"model", label(gpu.model)}, {"mode", gpu.mode}}), 1);
        add(policy, joined(labels, {{"policy", gpu.policy_name}, {"number", std::to_string(gpu.policy)}}), 1);
    }
    keep(families, std::move(info));
    keep(families, std::move(policy));
    for (const GpuMetric& metric : kGpuMetrics) {
        auto figures = family(metric.name, metric.help, metric.type);
        for (const Gpu& gpu : snapshot.gpus)
            if (gpu.present) add(figures, labels_of(gpu.index, gpu.uuid), metric.value(snapshot, gpu));
        keep(families, std::move(figures));
    }
}

void add_containers(std::vector<MetricFamily>& families, const Snapshot& snapshot) {
    auto info = family("cgpu_container_info",
                       "Its image, and the versions of the module that its processes run; always 1.", kGauge);
    for (const Instance& instance : snapshot.instances)
        add(info,
            joined(labels_of(instance),
                   {{"image", label(instance.image)},
                    {"module_version", label(instance.module_version)},
                    {"owner", instance.owner ? std::to_string(*instance.owner) : std::string()},
                    {"declared_owner", label(instance.declared_owner)}}),
            1);
    keep(families, std::move(info));
    for (const ContainerMetric& metric : kContainerMetrics) {
        auto figures = family(metric.name, metric.help, metric.type);
        for (const Instance& instance : snapshot.instances) {
            for (const OnGpu& place : instance.gpus)
                add(figures, joined(labels_of(place.quota.gpu_index, place.quota.gpu), labels_of(instance)),
                    metric.value(&place.quota, place.usage));
            for (const ForeignGpu& foreign : instance.foreign_gpus)
                add(figures, joined(labels_of(foreign.index, foreign.uuid), labels_of(instance)),
                    metric.value(nullptr, foreign.usage));
        }
        keep(families, std::move(figures));
    }
}

/// The launches that had to wait.
ClientMetric::Histogram waits_of(const Usage& usage) {
    ClientMetric::Histogram histogram;
    for (std::size_t i = 0; i < usage.launch_waits.counts.size(); ++i) {
        const std::int64_t most = client::LaunchWaits::most(i);
        histogram.sample_count += usage.launch_waits.counts[i];
        const double bound =
            most == INT64_MAX ? std::numeric_limits<double>::infinity() : static_cast<double>(most) / 1e9;
        histogram.bucket.push_back({histogram.sample_count, bound});
    }
    histogram.sample_sum = number(usage.launch_waits.sum) / 1e9;
    return histogram;
}

void add_waits(std::vector<MetricFamily>& families, const Snapshot& snapshot) {
    auto waits = family("cgpu_container_launch_wait_seconds",
                        "How long those of its launches waited that couldn't pass at once. Missing while the "
                        "driver divides the compute.",
                        MetricType::Histogram);
    for (const Instance& instance : snapshot.instances)
        for (const OnGpu& place : instance.gpus) {
            if (!place.usage.target_share) continue;
            ClientMetric metric;
            metric.label = joined(labels_of(place.quota.gpu_index, place.quota.gpu), labels_of(instance));
            metric.histogram = waits_of(place.usage);
            waits.metric.push_back(std::move(metric));
        }
    keep(families, std::move(waits));
}

void add_queue(std::vector<MetricFamily>& families, const Snapshot& snapshot) {
    const auto add_one = [&](const char* name, const char* help, MetricType type, double value) {
        auto figure = family(name, help, type);
        add(figure, {}, value);
        keep(families, std::move(figure));
    };
    std::uint64_t oldest = 0;
    for (const client::Queued& queued : snapshot.queue) oldest = std::max(oldest, queued.waited);
    const auto& totals = snapshot.queue_totals;
    add_one("cgpud_queue_length", "Requests that wait for their part of a GPU.", kGauge,
            number(snapshot.queue.size()));
    add_one("cgpud_queue_oldest_seconds", "How long the one has waited that waits longest; 0: none waits.",
            kGauge, seconds(oldest));
    add_one("cgpud_queue_started_total", "Requests that have started after they waited.", kCounter,
            number(totals.started));
    add_one("cgpud_queue_left_total", "Requests that have left the queue without a start.", kCounter,
            number(totals.left));
    add_one("cgpud_queue_waited_seconds_total", "How long those that have started had waited, all together.",
            kCounter, seconds(totals.waited));
}

MetricFamily up(bool is_up) {
    auto figure = family("cgpud_up", "1 if cgpud answers on the bus, else 0.", kGauge);
    add(figure, {}, is_up ? 1 : 0);
    return figure;
}

}  // namespace

std::vector<MetricFamily> metrics_of(const Snapshot& snapshot) {
    std::vector<MetricFamily> families = {up(true)};
    auto build =
        family("cgpud_build_info", "Versions of cgpud and of the module in force; always 1.", kGauge);
    add(build, {{"version", snapshot.version}, {"module_version", snapshot.module_version}}, 1);
    keep(families, std::move(build));
    auto events = family("cgpud_events_total", "Events since cgpud was started, by type.", kCounter);
    for (const auto& [type, count] : snapshot.event_counts) add(events, {{"type", type}}, number(count));
    keep(families, std::move(events));
    add_queue(families, snapshot);
    auto job = family("cgpud_job_info",
                      "The upgrade or the switch of the mode that is under way (result is empty) or was the "
                      "last one; always 1.",
                      kGauge);
    if (snapshot.job)
        add(job,
            {{"kind", snapshot.job->kind},
             {"target", snapshot.job->target},
             {"result", snapshot.job->result}},
            1);
    keep(families, std::move(job));
    add_gpus(families, snapshot);
    add_containers(families, snapshot);
    add_waits(families, snapshot);
    return families;
}

std::vector<MetricFamily> metrics_without_daemon() { return {up(false)}; }

}  // namespace cgpu::exporter
