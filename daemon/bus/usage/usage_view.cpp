#include "daemon/bus/usage/usage_view.hpp"

#include <cmath>

namespace cgpu::bus {
namespace {

using compat::Figures;

constexpr bool bounds_agree() {
    for (std::size_t i = 0; i < wire::kWaitBuckets - 1; ++i)
        if (compat::kWaitFigures[i].most_ns != wire::kWaitBoundsNs[i]) return false;
    return compat::kWaitFigures.size() == wire::kWaitBuckets;
}
static_assert(bounds_agree());

void add_waits(const view::LaunchWaits& waits, Figures& figures) {
    for (std::size_t i = 0; i < wire::kWaitBuckets; ++i)
        if (waits.counts[i] != 0) figures.emplace(compat::kWaitFigures[i].name, waits.counts[i]);
    if (waits.sum != 0) figures.emplace(compat::kWaitTimeFigure, waits.sum);
}

Figures numbers(const app::InstanceUsage& usage) {
    Figures figures = {
        {"memory-used", usage.memory_used},
        {"memory-leased", usage.memory_leased},
        {"memory-limit", usage.memory_limit},
        {"memory-peak", usage.memory_peak},
        {"memory-unexplained", usage.memory_unexplained},
        {"allocations-refused", usage.allocations_refused},
        {"gpu-time", usage.gpu_time},
        {"granted-time", usage.granted},
        {"waited", usage.waited},
        {"launches", usage.launches},
        {"preemptions", usage.preemptions},
        {"longest-kernel", usage.longest_kernel},
    };
    add_waits(usage.launch_waits, figures);
    return figures;
}

std::map<std::string, double> shares(const app::InstanceUsage& usage) {
    std::map<std::string, double> all;
    if (usage.target_share) all.emplace("target-share", *usage.target_share);
    if (usage.achieved_share) all.emplace("achieved-share", *usage.achieved_share);
    if (usage.compute_unexplained) all.emplace("compute-unexplained", *usage.compute_unexplained);
    return all;
}

}  // namespace

std::map<std::string, sdbus::Variant> figures_of(const app::InstanceUsage& usage) {
    std::map<std::string, sdbus::Variant> all = {
        {"processes", sdbus::Variant(usage.processes)},
        {"memory-of-processes", sdbus::Variant(usage.memory_of_processes)},
        {"processes-outside", sdbus::Variant(usage.processes_outside)},
    };
    for (const auto& [name, number] : numbers(usage)) all.emplace(name, sdbus::Variant(number));
    for (const auto& [name, share] : shares(usage)) all.emplace(name, sdbus::Variant(share));
    if (usage.foreign) all.emplace("foreign", sdbus::Variant(true));
    return all;
}

Figures figures_of(const app::GpuUsage& usage) {
    Figures figures = {{"memory-used", usage.memory_used},
                       {"memory-leased", usage.memory_leased},
                       {"xid-errors", usage.xid_errors},
                       {"last-xid", usage.last_xid}};
    if (usage.at_look) {
        figures.emplace("memory-in-driver", usage.at_look->in_driver);
        figures.emplace("memory-charged-then", usage.at_look->charged);
    }
    if (usage.strangers) {
        constexpr double kPerMille = 1000;
        figures.emplace("strangers-per-mille",
                        static_cast<std::uint64_t>(std::lround(usage.strangers->share * kPerMille)));
        figures.emplace("strangers-process", static_cast<std::uint64_t>(usage.strangers->most));
    }
    return figures;
}

compat::UsageOfNode usage_of(const app::NodeUsage& usage, app::Nanos age) {
    compat::UsageOfNode all;
    auto& [gpus, instances] = all;
    for (const auto& [gpu, its] : usage.gpus) {
        Figures figures = figures_of(its);
        if (age > 0) figures.emplace(compat::kAgeFigure, static_cast<std::uint64_t>(age));
        gpus.emplace(gpu.to_string(), std::move(figures));
    }
    for (const auto& [id, places] : usage.instances) {
        auto& on_gpus = instances[id.str()];
        for (const auto& [gpu, its] : places) {
            Figures figures = numbers(its);
            if (its.foreign) figures.emplace("foreign", 1);
            std::vector<sdbus::Struct<std::uint32_t, std::uint64_t>> of_processes;
            for (const auto& [pid, bytes] : its.memory_of_processes) of_processes.emplace_back(pid, bytes);
            on_gpus.emplace(gpu.to_string(), compat::UsageOnGpu(figures, shares(its), its.processes,
                                                                of_processes, its.processes_outside));
        }
    }
    return all;
}

}  // namespace cgpu::bus
