// doctor: checks everything on this node that cgpu needs, and says what to do about it.
#include <string>

#include <unistd.h>

#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/doctor/report.hpp"

namespace cgpu::cgpuctl {
namespace {

client::Result<doctor::Look> look_at(client::Node& node) {
    auto host = doctor::Host::open("/", geteuid() == 0);
    if (!host) return tl::unexpected(host.error());
    doctor::Look look{std::move(*host), node.service(),    std::nullopt,
                      std::nullopt,     doctor::kNoDaemon, CGPU_VERSION};
    if (!look.service || !look.service->running) return look;
    auto examination = node.examine();
    if (examination) {
        look.examination = std::move(*examination);
        if (look.host.is_root()) look.traces = doctor::find_traces(look.host, look.examination->runtime_dir);
    } else {
        look.no_examination = doctor::from_message(doctor::Level::ok, "", examination.error().text).why;
    }
    if (auto values = node.configuration()) look.configuration = std::move(*values);
    if (auto snapshot = node.read()) look.snapshot = std::move(*snapshot);
    return look;
}

doctor::Findings all_findings(const doctor::Look& look) {
    doctor::Findings all;
    for (auto* check :
         {&doctor::check_service, &doctor::check_configuration, &doctor::check_folders, &doctor::check_driver,
          &doctor::check_memory_of_the_host, &doctor::check_mps, &doctor::check_driver_limits,
          &doctor::check_gpus, &doctor::check_gpu_processes, &doctor::check_module, &doctor::check_instances,
          &doctor::check_nvidia_runtime, &doctor::check_docker, &doctor::check_swarm, &doctor::check_podman,
          &doctor::check_cdi, &doctor::check_cgroups, &doctor::check_polkit})
        for (doctor::Finding& finding : check(look)) all.push_back(std::move(finding));
    return all;
}

}  // namespace

client::Result<void> doctor_verb(const Input& input, client::Node& node, Terminal& terminal) {
    const auto look = look_at(node);
    if (!look) return tl::unexpected(look.error());
    const auto findings = all_findings(*look);
    if (input.json)
        terminal.out() << to_text(doctor::to_json(findings));
    else
        doctor::print(findings, input.quiet, terminal);
    const auto problems = doctor::count(findings, doctor::Level::problem);
    if (problems == 0) return {};
    return client::fail(client::ClientError::Kind::failed,
                        "doctor: " + std::to_string(problems) +
                            (problems == 1 ? " problem was found" : " problems were found") +
                            ". Try: do what is said beside each, and then run cgpuctl doctor again.");
}

}  // namespace cgpu::cgpuctl
