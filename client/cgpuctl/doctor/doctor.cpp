// doctor: checks everything on this node that cgpu needs, and says what to do about it.
#include <chrono>
#include <string>

#include <unistd.h>

#include "client/cgpuctl/doctor/base/in_time.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/doctor/doctor.hpp"
#include "client/cgpuctl/doctor/report.hpp"
#include "core/model/owner.hpp"

namespace cgpu::cgpuctl {
namespace {

/// cgpud itself asks the name service, by a program of its own and for five seconds at most: what this
/// process may reach isn't what that one may. Root asks for a user whom no service has, so that each of them
/// is asked.
std::string why_no_people(bool is_root, client::Node& node) {
    const auto limits = node.limits(is_root ? std::to_string(model::kNobody - 2) : "");
    return limits || limits.error().reason != "Unsupported" ? "" : limits.error().text;
}

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
    if (doctor::limits_need_people(look.configuration))
        look.no_people = why_no_people(look.host.is_root(), node);
    if (auto snapshot = node.read()) look.snapshot = std::move(*snapshot);
    return look;
}

struct Check {
    const char* name;  ///< of most of its findings
    doctor::Findings (*find)(const doctor::Look&);
};

constexpr Check kChecks[] = {{"cgpud", doctor::check_service},
                             {"configuration", doctor::check_configuration},
                             {"folders", doctor::check_folders},
                             {"driver", doctor::check_driver},
                             {"HMM and ATS", doctor::check_memory_of_the_host},
                             {"MPS", doctor::check_mps},
                             {"driver's limits", doctor::check_driver_limits},
                             {"GPUs", doctor::check_gpus},
                             {"processes", doctor::check_gpu_processes},
                             {"module", doctor::check_module},
                             {"instances", doctor::check_instances},
                             {"name service", doctor::check_people},
                             {"NVIDIA's runtime", doctor::check_nvidia_runtime},
                             {"Docker", doctor::check_docker},
                             {"Docker Swarm", doctor::check_swarm},
                             {"Podman", doctor::check_podman},
                             {"CDI", doctor::check_cdi},
                             {"cgroups", doctor::check_cgroups},
                             {"polkit", doctor::check_polkit}};

doctor::Findings all_findings(const doctor::Look& look) {
    // Each takes milliseconds; a dockerd may take five seconds for an answer.
    constexpr std::chrono::seconds kDeadline{10};
    doctor::Findings all;
    for (const Check& check : kChecks)
        for (doctor::Finding& finding :
             doctor::in_time(kDeadline, check.name, [&] { return check.find(look); }))
            all.push_back(std::move(finding));
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
