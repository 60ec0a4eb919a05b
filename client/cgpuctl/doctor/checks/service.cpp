// Whether cgpud is running, and which version of it.
#include "client/cgpuctl/doctor/checks/checks.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kService = "cgpud";
constexpr const char* kStart = "systemctl start cgpud, and journalctl -u cgpud if it does not stay up";

constexpr const char* kEffect = "no new job or container gets a part of a GPU; running ones go on";

Finding not_running(const client::ServiceState& service) {
    if (!service.failure.empty()) {
        // `it does not start: why`, with the remedy if its configuration is bad.
        Finding finding = from_message(Level::problem, kService, service.failure);
        finding.why += (finding.why.empty() ? "" : "; ") + std::string(kEffect);
        finding.fix = finding.fix.empty() ? "journalctl -u cgpud, and then systemctl restart cgpud"
                                          : finding.fix + ", and then systemctl restart cgpud";
        return finding;
    }
    return {Level::problem, kService,
            "it is not running: " + (service.unit_state.empty() ? "systemd does not know its unit"
                                                                : "its unit is " + service.unit_state),
            kEffect, kStart};
}

}  // namespace

Findings check_service(const Look& look) {
    if (!look.service) return {from_message(Level::problem, kService, look.service.error().text)};
    if (!look.service->running) return {not_running(*look.service)};
    if (!look.snapshot)
        return {{Level::problem, kService, "it is on the system bus, and does not answer",
                 "nothing can be started, shown or changed",
                 "systemctl restart cgpud; jobs go on meanwhile"}};
    if (look.snapshot->version != look.own_version)
        return {
            {Level::warning, kService,
             "version " + look.snapshot->version + " is running, and " + look.own_version + " is installed",
             "the installed version takes effect when cgpud is started again",
             "systemctl restart cgpud; jobs go on meanwhile"}};
    return {ok(kService, "version " + look.snapshot->version + " answers on the system bus")};
}

}  // namespace cgpu::cgpuctl::doctor
