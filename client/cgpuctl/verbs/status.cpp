#include <algorithm>

#include "client/cgpuctl/docker/engine_warnings.hpp"
#include "client/cgpuctl/jobs/job_wait.hpp"
#include "client/cgpuctl/modules/module_offer.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "client/cgpuctl/output/table.hpp"
#include "client/cgpuctl/output/warnings.hpp"
#include "client/cgpuctl/verbs/looking.hpp"

namespace cgpu::cgpuctl {
namespace {

auto instances_on(const client::Snapshot& snapshot, const client::Gpu& gpu) {
    return std::count_if(snapshot.instances.begin(), snapshot.instances.end(),
                         [&](const client::Instance& instance) { return instance.on(gpu.uuid) != nullptr; });
}

std::string as_json(const client::Snapshot& snapshot, const std::vector<std::string>& warnings) {
    Json all = to_json(snapshot);
    all["upgrade"] = std::exchange(all["job"], Json());
    all.erase("job");
    all["warnings"] = warnings;
    return to_text(all);
}

Table gpu_table(const client::Snapshot& snapshot) {
    Table table({"GPU", "MODEL", "POLICY", "MODE", "INSTANCES", "FREE WEIGHT", "MEMORY ALLOCATED"});
    for (const client::Gpu& gpu : snapshot.gpus)
        table.add(
            {std::to_string(gpu.index) + (gpu.present ? "" : " (lost)") + (gpu.drained ? " (drained)" : ""),
             gpu.model, gpu.policy_name, gpu.mode,
             std::to_string(instances_on(snapshot, gpu)) + " of " + std::to_string(gpu.max_inst),
             std::to_string(gpu.free_weight), of_text(gpu.memory_allocated, gpu.memory_total)});
    return table;
}

}  // namespace

client::Result<void> status(const Input& input, client::Node& node, Terminal& terminal) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    auto warnings = warnings_about(*snapshot);
    if (const auto values = node.configuration())
        for (std::string& warning : difference_warnings(*values)) warnings.push_back(std::move(warning));
    // The engines' files are this machine's.
    if (input.host.empty())
        for (std::string& warning : engine_warnings()) warnings.push_back(std::move(warning));
    if (input.json) {
        terminal.out() << as_json(*snapshot, warnings);
        return {};
    }
    terminal.out() << "cgpud " << snapshot->version << ", module "
                   << (snapshot->module_version.empty() ? "none" : snapshot->module_version)
                   << (snapshot->mode_is_switched() ? ", switched to mode " + snapshot->mode : "") << '\n';
    const auto offer = offer_text(snapshot->module_version, snapshot->modules_installed);
    if (snapshot->job && !snapshot->job->ended())
        terminal.out() << progress_text(*snapshot->job) << '\n';
    else if (!offer.empty() && !input.quiet)
        terminal.out() << offer << '\n';
    const Table table = gpu_table(*snapshot);
    if (!table.empty()) table.print(terminal, !input.no_legend);
    if (!snapshot->queue.empty() && !input.quiet)
        terminal.out() << counted(snapshot->queue.size(), "request")
                       << (snapshot->queue.size() == 1 ? " waits" : " wait")
                       << " in the queue (cgpuctl queue)\n";
    if (!input.quiet)
        for (const std::string& warning : warnings) terminal.warning(warning);
    return {};
}

}  // namespace cgpu::cgpuctl
