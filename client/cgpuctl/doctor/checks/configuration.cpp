// Whether the configuration is in force, and the one on the disk good.
#include <array>
#include <cstdio>
#include <optional>

#include <sys/wait.h>

#include "client/cgpuctl/doctor/checks/checks.hpp"
#include "client/cgpuctl/doctor/facts/self_check.hpp"
#include "client/cgpuctl/output/warnings.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kConfiguration = "configuration";

std::string with_reload(const std::string& fix) { return fix + ", and then systemctl reload cgpud"; }

/// Empty: it isn't installed or can't be run.
std::optional<SelfCheck> run_self_check(const Host& host) {
    const std::string program = host.first_of({"/usr/sbin/cgpud", "/usr/local/sbin/cgpud"});
    if (program.empty()) return std::nullopt;
    std::FILE* pipe = popen((program + " --check 2>&1").c_str(), "re");
    if (pipe == nullptr) return std::nullopt;
    SelfCheck check;
    std::array<char, 4096> part{};
    for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
        check.said.append(part.data(), n);
    const int status = pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 127) return std::nullopt;
    check.status = WEXITSTATUS(status);
    return check;
}

}  // namespace

Findings check_configuration(const Look& look) {
    Findings findings;
    if (look.snapshot)
        for (const client::ConfigurationProblem& problem : look.snapshot->configuration_problems) {
            Finding finding = from_message(Level::problem, kConfiguration, problem.message);
            finding.why += "; cgpud keeps the former configuration";
            finding.fix = with_reload(finding.fix);
            findings.push_back(std::move(finding));
        }
    if (!findings.empty()) return findings;
    for (const std::string& difference : difference_warnings(look.configuration)) {
        const Finding parts = from_message(Level::warning, kConfiguration, difference);
        findings.push_back({Level::warning, kConfiguration, parts.what + ": " + parts.why,
                            "the node doesn't do what its files say", parts.fix});
    }
    const bool differ = !findings.empty();
    if (!look.host.is_root()) {
        if (!differ) findings.push_back(for_root(kConfiguration, "what the files say now"));
        return findings;
    }
    for (Finding& finding : judge_self_check(run_self_check(look.host), look.snapshot.has_value()))
        if (!differ || finding.level != Level::ok) findings.push_back(std::move(finding));
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
