#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>

#include "client/cgpuctl/bench/bench.hpp"
#include "client/cgpuctl/bench/bench_plan.hpp"
#include "client/cgpuctl/bench/bench_tenant.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/table.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;
using client::Result;
using Kind = ClientError::Kind;
using Tenants = std::vector<BenchTenant>;

using model::kSecond;
constexpr std::int64_t kStartWithin = 60 * kSecond;  // a context on a cold driver takes seconds
constexpr std::int64_t kSettle = 2 * kSecond;        // what begins and what was in flight is left out
constexpr std::int64_t kUngated = 3 * kSecond;
constexpr std::int64_t kEndWithin = 5 * kSecond;
constexpr int kBetweenLooks = 20;  // milliseconds

/// The target and the measured share of one tenant, as parts 0..1 of what all of them get together.
struct Row {
    std::uint32_t weight = 0;
    std::optional<double> due;  ///< empty if the driver divides the compute
    double got = 0;
    double rate = 0;  ///< kernels per second
};

struct Outcome {
    std::vector<Row> rows;
    double ungated = 0;   ///< kernels a second
    double together = 0;  ///< the sum of all programs, as a part of `ungated`
};

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * kSecond + now.tv_nsec;
}

const client::Gpu* find_gpu(const client::Snapshot& snapshot, const std::string& uuid) {
    for (const client::Gpu& gpu : snapshot.gpus)
        if (gpu.uuid == uuid) return &gpu;
    return nullptr;
}

std::size_t instances_on(const client::Snapshot& snapshot, const std::string& uuid) {
    std::size_t count = 0;
    for (const client::Instance& instance : snapshot.instances)
        if (instance.on(uuid) != nullptr) ++count;
    return count;
}

std::string self() { return std::filesystem::canonical("/proc/self/exe").native(); }

/// The load program is installed beside bin/, where this program is.
std::vector<std::string> load_command(const BenchPlan& plan) {
    const auto prefix = std::filesystem::path(self()).parent_path().parent_path();
    return {(prefix / "lib/cgpu/cgpu-load").native(), "--kernel-us", std::to_string(plan.kernel_us)};
}

Result<void> start_tenants(const BenchPlan& plan, const std::string& gpu, Tenants& tenants) {
    for (std::size_t i = 0; i < plan.weights.size(); ++i) {
        std::vector<std::string> command{
            self(), "run",   "--quiet",   "--name",   "bench-" + std::to_string(i + 1), "--gpus",
            gpu,    "--mem", plan.memory, "--weight", std::to_string(plan.weights[i]),  "--"};
        for (auto& word : load_command(plan)) command.push_back(std::move(word));
        auto tenant = BenchTenant::start(command, {});
        if (!tenant) return tl::unexpected(tenant.error());
        tenants.push_back(std::move(*tenant));
    }
    return {};
}

/// Reads the tenants' output until then, or until all are ready.
Result<void> attend(Tenants& tenants, std::int64_t until, bool until_ready) {
    while (now_ns() < until) {
        std::vector<pollfd> waited;
        bool all_ready = true;
        for (const BenchTenant& tenant : tenants) {
            waited.push_back({tenant.output(), POLLIN, 0});
            all_ready = all_ready && tenant.ready();
        }
        if (until_ready && all_ready) return {};
        const auto left = std::max<std::int64_t>((until - now_ns()) / 1'000'000, 1);
        poll(waited.data(), waited.size(), static_cast<int>(left));
        for (std::size_t i = 0; i < tenants.size(); ++i)
            if (waited[i].revents != 0 && !tenants[i].read())
                return client::fail(Kind::failed, "cgpuctl bench: program " + std::to_string(i + 1) + " of " +
                                                      std::to_string(tenants.size()) +
                                                      " ended early; its message is above. Try: remove that "
                                                      "cause, then run the benchmark again.");
    }
    if (!until_ready) return {};
    return client::fail(Kind::failed, "cgpuctl bench: the programs didn't start to compute within " +
                                          duration_text(kStartWithin) + ". Try: journalctl -u cgpud.");
}

/// Kernels per second of each tenant within a window that begins when all compute.
Result<std::vector<double>> measure(Tenants& tenants, std::int64_t window) {
    if (auto ready = attend(tenants, now_ns() + kStartWithin, true); !ready)
        return tl::unexpected(ready.error());
    const auto from = now_ns() + kSettle;
    if (auto done = attend(tenants, from + window, false); !done) return tl::unexpected(done.error());
    std::vector<double> rates;
    for (const BenchTenant& tenant : tenants)
        rates.push_back(rate(tenant.samples(), from, from + window).value_or(0));
    return rates;
}

Result<double> measure_ungated(const BenchPlan& plan, const std::string& gpu) {
    Tenants alone;
    auto tenant = BenchTenant::start(load_command(plan), {"CUDA_VISIBLE_DEVICES=" + gpu});
    if (!tenant) return tl::unexpected(tenant.error());
    alone.push_back(std::move(*tenant));
    const auto rates = measure(alone, kUngated);
    if (!rates) return tl::unexpected(rates.error());
    if (rates->front() > 0) return rates->front();
    return client::fail(
        Kind::failed,
        "cgpuctl bench: no kernel was finished within " + duration_text(kUngated) +
            ". Try: use shorter kernels (--kernel-us), or check what else computes on the GPU.");
}

Result<Outcome> bench_on(const BenchPlan& plan, const std::string& gpu, client::Node& node,
                         Tenants& tenants) {
    const auto ungated = measure_ungated(plan, gpu);
    if (!ungated) return tl::unexpected(ungated.error());
    if (auto started = start_tenants(plan, gpu, tenants); !started) return tl::unexpected(started.error());
    const auto rates = measure(tenants, plan.window);
    if (!rates) return tl::unexpected(rates.error());
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto sum = std::accumulate(rates->begin(), rates->end(), 0.0);
    Outcome outcome{{}, *ungated, sum / *ungated};
    double all_due = 0;
    for (std::size_t i = 0; i < tenants.size(); ++i) {
        Row row{plan.weights[i], std::nullopt, sum > 0 ? (*rates)[i] / sum : 0, (*rates)[i]};
        // A job has the process id of the `cgpuctl run` that became it.
        for (const client::Instance& instance : snapshot->instances)
            if (const auto* place = instance.on(gpu);
                place != nullptr && instance.pid == static_cast<std::uint32_t>(tenants[i].pid()))
                row.due = place->usage.target_share;
        all_due += row.due.value_or(0);
        outcome.rows.push_back(row);
    }
    for (Row& row : outcome.rows)
        if (row.due && all_due > 0) row.due = *row.due / all_due;
    return outcome;
}

bool has_one_of(const client::Snapshot& snapshot, const std::vector<std::uint32_t>& pids) {
    return std::ranges::any_of(snapshot.instances, [&](const client::Instance& instance) {
        return instance.pid != 0 && std::ranges::find(pids, instance.pid) != pids.end();
    });
}

/// Ends the tenants, and waits until cgpud has noticed: who comes next finds the GPU as it was before.
void end_tenants(Tenants& tenants, client::Node& node) {
    std::vector<std::uint32_t> pids;
    for (const BenchTenant& tenant : tenants) pids.push_back(static_cast<std::uint32_t>(tenant.pid()));
    tenants.clear();
    const auto give_up = now_ns() + kEndWithin;
    while (now_ns() < give_up) {
        const auto snapshot = node.read();
        if (!snapshot || !has_one_of(*snapshot, pids)) return;
        poll(nullptr, 0, kBetweenLooks);
    }
}

std::string points(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%+.1f", 100 * share);
    return text;
}

void print(const BenchPlan& plan, const client::Gpu& gpu, const Outcome& outcome, bool legend,
           Terminal& terminal) {
    terminal.out() << "GPU " << gpu.index << " (" << gpu.model << "), policy " << gpu.policy_name
                   << ", kernels of about " << duration_text(plan.kernel_us * 1000ULL) << ", "
                   << duration_text(static_cast<std::uint64_t>(plan.window)) << '\n';
    Table table({"PROGRAM", "WEIGHT", "DUE", "GOT", "OFF BY", "KERNELS/S"});
    for (std::size_t i = 0; i < outcome.rows.size(); ++i) {
        const Row& row = outcome.rows[i];
        table.add({std::to_string(i + 1), std::to_string(row.weight),
                   row.due ? share_text(*row.due) : "native", share_text(row.got),
                   row.due ? points(row.got - *row.due) : "", std::to_string(std::lround(row.rate))});
    }
    table.print(terminal, legend);
    terminal.out() << "Together " << share_text(outcome.together)
                   << " of what the same work gets alone and ungated.\n";
}

Json outcome_json(const BenchPlan& plan, const client::Gpu& gpu, const Outcome& outcome) {
    Json rows = Json::array();
    for (const Row& row : outcome.rows)
        rows.push_back({{"weight", row.weight},
                        {"target_share", row.due ? Json(*row.due) : Json()},
                        {"share", row.got},
                        {"kernels_per_second", row.rate}});
    return {{"gpu", gpu.uuid},
            {"policy", gpu.policy},
            {"policy_name", gpu.policy_name},
            {"seconds", static_cast<double>(plan.window) / kSecond},
            {"kernel_seconds", plan.kernel_us / 1e6},
            {"ungated_kernels_per_second", outcome.ungated},
            {"together", outcome.together},
            {"programs", rows}};
}

}  // namespace

Result<void> bench(const BenchInput& input, client::Node& node, Terminal& terminal) {
    const auto plan = read_bench_plan(input);
    if (!plan) return tl::unexpected(plan.error());
    if (geteuid() != 0)
        return client::fail(
            Kind::not_authorized,
            "cgpuctl bench: only root may start programs on a part of a GPU. Try: sudo cgpuctl bench ….");
    const auto uuid = node.find_gpu(input.gpu);
    if (!uuid) return tl::unexpected(uuid.error());
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const client::Gpu* gpu = find_gpu(*snapshot, *uuid);
    if (gpu == nullptr)
        return client::fail(Kind::not_found,
                            "GPU " + input.gpu + ": it disappeared during this call. Try: cgpuctl status.");
    if (const auto others = instances_on(*snapshot, *uuid); others > 0 && !input.force)
        return client::fail(Kind::refused,
                            "GPU " + input.gpu + ": " + std::to_string(others) +
                                (others == 1 ? " instance is" : " instances are") +
                                " on it already. What computes there would be slowed, and the figures wrong. "
                                "Try: wait until they have ended, or pass --force.");
    Tenants tenants;
    const auto outcome = bench_on(*plan, *uuid, node, tenants);
    end_tenants(tenants, node);
    if (!outcome) return tl::unexpected(outcome.error());
    if (input.json)
        terminal.out() << to_text(outcome_json(*plan, *gpu, *outcome));
    else
        print(*plan, *gpu, *outcome, !input.no_legend, terminal);
    return {};
}

}  // namespace cgpu::cgpuctl
