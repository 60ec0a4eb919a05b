#include "client/cgpuctl/doctor/facts/self_check.hpp"

#include <sstream>

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kSelfCheckFact = "configuration";
constexpr std::string_view kOfCgpud = "cgpud: ";
constexpr std::string_view kWarning = "warning: ";

}  // namespace

Findings judge_self_check(const std::optional<SelfCheck>& check, bool running) {
    if (!check)
        return {unchecked(kSelfCheckFact, "what the files say now",
                          "cgpud is not installed in /usr/sbin, or can't be run")};
    Findings findings;
    std::istringstream lines(check->said);
    for (std::string line; std::getline(lines, line);) {
        const bool told = line.starts_with(kOfCgpud);
        if (told) line.erase(0, kOfCgpud.size());
        if (told && line.starts_with(kWarning)) {
            findings.push_back(from_message(Level::warning, kSelfCheckFact, line.substr(kWarning.size())));
            continue;
        }
        if (check->status == 0) continue;
        Finding finding = from_message(Level::problem, kSelfCheckFact, line);
        finding.why +=
            running ? "; cgpud will refuse it at its next reload or start" : "; cgpud does not start";
        findings.push_back(std::move(finding));
    }
    if (findings.empty() && check->status == 0)
        findings.push_back(ok(kSelfCheckFact, "the files and the state are good"));
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
