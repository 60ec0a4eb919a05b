// Whether the module can be loaded, and which version is in force.
#include <filesystem>

#include "bundle/bundle.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/output/warnings.hpp"

namespace cgpu::cgpuctl::doctor {

namespace {
constexpr const char* kModule = "module";
}

Findings check_module(const Look& look) {
    const std::filesystem::path folder =
        look.host.at(look.examination ? look.examination->module_dir : "/usr/lib/cgpu/module");
    const auto versions = bundle::versions_in(folder);
    if (versions.empty())
        return {{Level::problem, kModule, folder.native() + " has no version of it",
                 "nothing can be limited, and instances are refused", "install cgpu again"}};
    Findings findings;
    const std::string in_force = look.snapshot ? look.snapshot->module_version : "";
    for (const upgrade::Version& version : versions) {
        const auto verified = bundle::verify(folder / version.str());
        if (verified) continue;
        const bool used = version.str() == in_force;
        findings.push_back(
            from_message(used ? Level::problem : Level::warning, kModule, verified.error().text));
    }
    if (look.snapshot && in_force.empty())
        findings.push_back({Level::problem, kModule, "no version is in force",
                            "nothing can be limited, and instances are refused",
                            "cgpuctl module verify, and then restart cgpud"});
    if (look.snapshot)
        for (const std::string& warning : module_warnings(*look.snapshot))
            findings.push_back(from_message(Level::warning, kModule, warning));
    if (!findings.empty()) return findings;
    return {ok(kModule, look.snapshot
                            ? "version " + in_force + " is in force, and sound"
                            : std::to_string(versions.size()) + " versions are installed, and sound")};
}

}  // namespace cgpu::cgpuctl::doctor
