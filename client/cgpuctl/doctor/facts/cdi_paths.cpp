#include "client/cgpuctl/doctor/facts/cdi_paths.hpp"

#include <algorithm>

namespace cgpu::cgpuctl::doctor {

std::vector<std::string> host_paths_of(std::string_view specification) {
    constexpr std::string_view kKey = "hostPath";
    std::vector<std::string> paths;
    for (auto at = specification.find(kKey); at != std::string_view::npos;
         at = specification.find(kKey, at + 1)) {
        // The key's quotes, the colon, the value's quotes. YAML and JSON differ in nothing else here.
        const auto begin = specification.find_first_not_of("\"': \t", at + kKey.size());
        if (begin == std::string_view::npos || specification[begin] != '/') continue;
        const auto end = specification.find_first_of("\"',}\r\n", begin);
        std::string path(specification.substr(begin, end - begin));
        path.erase(path.find_last_not_of(" \t") + 1);
        if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
    }
    return paths;
}

std::vector<std::string> shared_gpus_of(std::string_view specification) {
    constexpr std::string_view kVariable = "\"CGPU_GPUS=";
    std::vector<std::string> gpus;
    for (auto at = specification.find(kVariable); at != std::string_view::npos;
         at = specification.find(kVariable, at + 1)) {
        const auto begin = at + kVariable.size();
        std::string gpu(specification.substr(begin, specification.find('"', begin) - begin));
        if (std::ranges::find(gpus, gpu) == gpus.end()) gpus.push_back(std::move(gpu));
    }
    return gpus;
}

}  // namespace cgpu::cgpuctl::doctor
