// Instances that can't work, and what is left of former ones.
#include <algorithm>
#include <optional>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/doctor/facts/link_mount.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/warnings.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kInstances = "instances";
constexpr const char* kOrphans = "orphans";

bool knows(const client::Snapshot& snapshot, const std::string& id) {
    return std::ranges::count(snapshot.instances, id, &client::Instance::id) > 0;
}

std::string folder_of(const Look& look, const std::string& id) {
    return look.examination->runtime_dir + "/instances/" + id;
}

std::optional<std::string> link_of(const Host& host, std::uint32_t pid) {
    return instance_of_link(host.read("/proc/" + std::to_string(pid) + "/mountinfo").text);
}

// What is gone by now belonged to an instance that has just ended.

/// Of those that a process has mounted, the process is named.
Findings left_folders(const Look& look) {
    Findings findings;
    for (const std::string& id : look.traces.folders)
        if (!knows(*look.snapshot, id) && !look.traces.links.contains(id) &&
            look.host.exists(folder_of(look, id)))
            findings.push_back({Level::warning, kOrphans, folder_of(look, id) + " belongs to no instance",
                                "it is left of an instance that has ended",
                                "systemctl restart cgpud, which removes it; jobs go on meanwhile"});
    return findings;
}

/// Processes that have the link of an instance that cgpud doesn't know.
Findings left_processes(const Look& look) {
    Findings findings;
    for (const auto& [id, pid] : look.traces.links)
        if (!knows(*look.snapshot, id) && link_of(look.host, pid) == id)
            findings.push_back({Level::warning, kOrphans,
                                "process " + std::to_string(pid) + " was started in instance " +
                                    short_id(id) + ", which cgpud does not know any more",
                                "it can't allocate memory of a GPU or start kernels, and keeps what it has",
                                "end it (kill " + std::to_string(pid) +
                                    "), and start its job again. If another state.json was put in the place "
                                    "of cgpud's, put the right one back and systemctl restart cgpud"});
    return findings;
}

}  // namespace

Traces find_traces(const Host& host, const std::string& runtime_dir) {
    Traces traces;
    traces.folders = host.names_in(runtime_dir + "/instances");
    for (const Host::Process& process : host.processes())
        if (const auto id = link_of(host, process.pid)) traces.links.try_emplace(*id, process.pid);
    return traces;
}

Findings check_instances(const Look& look) {
    if (!look.snapshot) return {unchecked(kInstances, "whether each can work", kNoDaemon)};
    Findings findings;
    for (const client::Gpu& gpu : look.snapshot->gpus)
        for (const std::string& warning : warnings_of_weight(*look.snapshot, gpu))
            findings.push_back(from_message(Level::warning, kInstances, warning));
    if (findings.empty())
        findings.push_back(ok(kInstances, std::to_string(look.snapshot->instances.size()) + " can work"));
    if (!look.host.is_root() || !look.examination) {
        findings.push_back(
            look.examination ? for_root(kOrphans, "what is left of former instances")
                             : unchecked(kOrphans, "what is left of former instances", look.no_examination));
        return findings;
    }
    const auto before = findings.size();
    for (auto* left : {&left_folders, &left_processes})
        for (Finding& finding : left(look)) findings.push_back(std::move(finding));
    if (findings.size() == before) findings.push_back(ok(kOrphans, "nothing is left of former instances"));
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
