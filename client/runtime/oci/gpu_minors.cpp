#include "client/runtime/oci/gpu_minors.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

/// The value in the line `NAME: VALUE` of a file of the driver; empty if there is none.
std::string field(const std::string& file, std::string_view name) {
    constexpr std::string_view kBlanks = " \t";
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(name) || line.size() == name.size() || line[name.size()] != ':') continue;
        const auto first = line.find_first_not_of(kBlanks, name.size() + 1);
        if (first == std::string::npos) return {};
        return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
    }
    return {};
}

}  // namespace

GpuMinors read_gpu_minors(const std::vector<client::Gpu>& gpus, const std::string& folder) {
    GpuMinors minors;
    std::error_code error;
    std::filesystem::directory_iterator entries(folder, error);
    if (error) {
        for (const client::Gpu& gpu : gpus)
            if (gpu.present) minors.emplace(gpu.index, gpu.uuid);
        return minors;
    }
    for (const auto end = std::filesystem::directory_iterator(); !error && entries != end;
         entries.increment(error)) {
        const std::string file = entries->path().native() + "/information";
        const std::string uuid = field(file, "GPU UUID");
        const auto minor = request::to_number(field(file, "Device Minor"));
        const bool known = std::any_of(gpus.begin(), gpus.end(), [&uuid](const client::Gpu& gpu) {
            return gpu.present && gpu.uuid == uuid;
        });
        if (known && minor && *minor <= std::numeric_limits<std::uint32_t>::max())
            minors.emplace(static_cast<std::uint32_t>(*minor), uuid);
    }
    return minors;
}

}  // namespace cgpu::runtime
