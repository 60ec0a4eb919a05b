#include "client/cgpuctl/doctor/facts/driver_version.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kDriverVersionFact = "driver";

bool is_version(std::string_view word) {
    return word.find('.') != std::string_view::npos &&
           std::ranges::all_of(word, [](char c) { return c == '.' || (c >= '0' && c <= '9'); }) &&
           word.front() != '.' && word.back() != '.';
}

unsigned branch_of(const std::string& version) {
    unsigned branch = 0;
    std::from_chars(version.data(), version.data() + version.size(), branch);
    return branch;
}

std::string list_of(const DriverVersions& versions) {
    std::string text;
    const auto add = [&](const char* what, const std::string& version) {
        if (!version.empty()) text += (text.empty() ? "" : ", ") + std::string(what) + " " + version;
    };
    add("the kernel module is", versions.kernel);
    add("libcuda is", versions.library);
    add("cgpud's libnvidia-ml is", versions.nvml);
    return text;
}

}  // namespace

std::optional<KernelModule> read_kernel_module(std::string_view text) {
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("NVRM version:")) continue;
        std::istringstream words(line);
        for (std::string word; words >> word;)
            if (is_version(word))
                return KernelModule{word, line.find("Open Kernel Module") != std::string::npos};
    }
    return std::nullopt;
}

std::string version_of_library(const std::string& path) {
    const auto mark = path.rfind(".so.");
    if (mark == std::string::npos) return {};
    const std::string end = path.substr(mark + 4);
    // Names such as libcuda.so.1.1 (WSL) have no version of the driver.
    return !end.empty() && is_version(end) && branch_of(end) >= 100 ? end : "";
}

Findings judge_driver(const DriverVersions& versions) {
    Findings findings;
    const std::string& any = !versions.kernel.empty()    ? versions.kernel
                             : !versions.library.empty() ? versions.library
                                                         : versions.nvml;
    const auto differs = [&](const std::string& other) { return !other.empty() && other != any; };
    if (differs(versions.library) || (!versions.kernel.empty() && differs(versions.nvml)))
        findings.push_back(
            {Level::problem, kDriverVersionFact, list_of(versions),
             "the driver was exchanged while it was loaded, and programs that start now can't use it",
             "reboot; or end all jobs, reload the kernel modules and restart cgpud"});
    else if (differs(versions.nvml))
        findings.push_back({Level::warning, kDriverVersionFact, list_of(versions),
                            "the driver was exchanged while cgpud was running", "systemctl restart cgpud"});
    const unsigned branch = branch_of(any);
    if (branch < kOldestDriver)
        findings.push_back(
            {Level::problem, kDriverVersionFact, any + " is too old",
             "cgpu needs functions that drivers have from " + std::to_string(kOldestDriver) + " on",
             "install a driver of branch " + std::to_string(kOldestDriver) + " or later"});
    else if (branch > kNewestDriver)
        findings.push_back(
            {Level::warning, kDriverVersionFact,
             any + " is newer than cgpu's tables, which end with branch " + std::to_string(kNewestDriver),
             "functions that only a newer driver has are passed to it without a limit",
             "install a release of cgpu that knows this driver"});
    else if (findings.empty())
        findings.push_back(
            ok(kDriverVersionFact, any + (versions.kernel.empty() || versions.library.empty()
                                              ? ""
                                              : ", alike in the kernel and in the libraries")));
    return findings;
}

}  // namespace cgpu::cgpuctl::doctor
