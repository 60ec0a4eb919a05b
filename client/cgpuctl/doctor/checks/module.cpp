// Whether the module can be loaded, and which version is in force.
#include <filesystem>

#include "bundle/bundle.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/output/warnings.hpp"

namespace cgpu::cgpuctl::doctor {

namespace {
constexpr const char* kCheck = "module";
}

Findings check_module(const Look& look) {
    const std::filesystem::path folder =
        look.host.at(look.examination ? look.examination->module_dir : "/usr/lib/cgpu/module");
    const auto versions = bundle::versions_in(folder);
    if (versions.empty())
        return {{Level::problem, kCheck, folder.native() + " has no version of it",
                 "nothing can be limited, and instances are refused", "install cgpu again"}};
    Findings findings;
    const std::string in_force = look.snapshot ? look.snapshot->module_version : "";
    for (const upgrade::Version& version : versions) {
        const auto verified = bundle::verify(folder / version.str());
        if (verified) continue;
        const bool used = version.str() == in_force;
        findings.push_back(
            from_message(used ? Level::problem : Level::warning, kCheck, verified.error().text));
    }
    if (look.snapshot && in_force.empty())
        findings.push_back({Level::problem, kCheck, "no version is in force",
                            "nothing can be limited, and instances are refused",
                            "cgpuctl module verify, and then restart cgpud"});
    if (look.snapshot)
        for (const std::string& warning : module_warnings(*look.snapshot))
            findings.push_back(from_message(Level::warning, kCheck, warning));
    if (!findings.empty()) return findings;
    return {ok(kCheck, look.snapshot
                           ? "version " + in_force + " is in force, and sound"
                           : std::to_string(versions.size()) + " versions are installed, and sound")};
}

}  // namespace cgpu::cgpuctl::doctor
