// What cgpu uses of the system: cgroups and polkit.
#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "dbus/names.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kPolkit = "polkit";
constexpr const char* kActions = "/usr/share/polkit-1/actions/org.cgpu1.policy";

bool has_polkit(const Host& host) {
    return !host.first_of({"/usr/lib/polkit-1/polkitd", "/usr/libexec/polkitd",
                           "/usr/lib/policykit-1/polkitd", "/usr/libexec/polkit-1/polkitd"})
                .empty();
}

}  // namespace

Findings check_cgroups(const Look& look) {
    constexpr const char* kCheck = "cgroups";
    if (look.host.exists("/sys/fs/cgroup/cgroup.controllers")) return {ok(kCheck, "version 2")};
    if (!look.host.names_in("/sys/fs/cgroup").empty()) return {ok(kCheck, "version 1")};
    return {{Level::warning, kCheck, "they are not mounted",
             "processes that have left a job's mounts and parents can't be recognised as its own",
             "mount -t cgroup2 cgroup2 /sys/fs/cgroup"}};
}

Findings check_polkit(const Look& look) {
    constexpr const char* kEffect = "users other than root are refused whatever polkit's rules say";
    const auto text = look.host.read(kActions).text;
    for (const char* name : bus_names::kActions)
        if (text.find("<action id=\"" + std::string(name) + "\">") == std::string::npos)
            return {{Level::problem, kPolkit, "the action " + std::string(name) + " is not in " + kActions,
                     kEffect, "install cgpu again (apt install --reinstall cgpu)"}};
    if (!has_polkit(look.host))
        return {ok(kPolkit, "it is not installed, so only root may change something")};
    return {ok(kPolkit, "cgpu's " + std::to_string(bus_names::kActions.size()) + " actions are registered")};
}

}  // namespace cgpu::cgpuctl::doctor
