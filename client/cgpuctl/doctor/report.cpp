#include "client/cgpuctl/doctor/report.hpp"

#include <algorithm>
#include <string>

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

std::string_view word(Level level) { return level == Level::unchecked ? "unchecked" : to_string(level); }

std::string padded(std::string_view text, std::size_t width) {
    return std::string(text) + std::string(width - std::min(width, text.size()), ' ');
}

}  // namespace

std::size_t count(const Findings& findings, Level level) {
    return static_cast<std::size_t>(std::ranges::count(findings, level, &Finding::level));
}

void print(const Findings& findings, bool quiet, Terminal& terminal) {
    constexpr std::size_t kLevel = 11;
    std::size_t name = 0;
    for (const Finding& finding : findings) name = std::max(name, finding.check.size() + 2);
    const std::string indent(kLevel + name, ' ');
    for (const Finding& finding : findings) {
        if (quiet && finding.level == Level::ok) continue;
        terminal.out() << padded(word(finding.level), kLevel) << padded(finding.check, name)
                       << printable(finding.what) << '\n';
        if (!finding.why.empty()) terminal.out() << indent << "why: " << printable(finding.why) << '\n';
        if (!finding.fix.empty()) terminal.out() << indent << "try: " << printable(finding.fix) << '\n';
    }
    if (quiet) return;
    terminal.out() << counted(findings.size(), "finding") << ": " << count(findings, Level::ok) << " ok, "
                   << counted(count(findings, Level::warning), "warning") << ", "
                   << counted(count(findings, Level::problem), "problem") << ", "
                   << count(findings, Level::unchecked) << " not checked\n";
}

Json to_json(const Findings& findings) {
    Json list = Json::array();
    for (const Finding& finding : findings)
        list.push_back({{"check", finding.check},
                        {"level", to_string(finding.level)},
                        {"what", finding.what},
                        {"why", finding.why},
                        {"fix", finding.fix}});
    return {{"ok", count(findings, Level::ok)},
            {"warnings", count(findings, Level::warning)},
            {"problems", count(findings, Level::problem)},
            {"not_checked", count(findings, Level::unchecked)},
            {"findings", std::move(list)}};
}

}  // namespace cgpu::cgpuctl::doctor
