#include "client/cgpuctl/doctor/facts/self_check.hpp"

#include <sstream>

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kSelfCheckFact = "configuration";
constexpr const char* kOfCgpud = "cgpud: ";

}  // namespace

Findings judge_self_check(const std::optional<SelfCheck>& check, bool running) {
    if (!check)
        return {unchecked(kSelfCheckFact, "what the files say now",
                          "cgpud is not installed in /usr/sbin, or can't be run")};
    if (check->status == 0) return {ok(kSelfCheckFact, "the files and the state are good")};
    Findings findings;
    std::istringstream lines(check->said);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(kOfCgpud)) line.erase(0, std::char_traits<char>::length(kOfCgpud));
        Finding finding = from_message(Level::problem, kSelfCheckFact, line);
        finding.why +=
            running ? "; cgpud will refuse it at its next reload or start" : "; cgpud does not start";
        findings.push_back(std::move(finding));
    }
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
