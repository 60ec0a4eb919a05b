#include "client/cgpuctl/docker/podman_config.hpp"

#include <algorithm>
#include <filesystem>

#include "client/cgpuctl/docker/toml.hpp"

namespace cgpu::cgpuctl {
namespace {

/// Podman's built-in list. One that a file has replaces it.
const std::vector<std::string>& built_in() {
    static const std::vector<std::string> all = {"crun", "runc", "kata", "runsc", "youki", "krun"};
    return all;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') out += '\\';
        out += letter;
    }
    return out + "\"";
}

std::string list_text(const std::vector<std::string>& all) {
    std::string text;
    for (const auto& each : all) text += (text.empty() ? "" : ", ") + quoted(each);
    return "[" + text + "]";
}

}  // namespace

std::vector<std::string> podman_files(std::vector<std::string> names) {
    std::vector<std::string> files = {"/usr/share/containers/containers.conf",
                                      "/etc/containers/containers.conf"};
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        if (name.ends_with(".conf")) files.push_back(std::string(kPodmanDropIns) + "/" + name);
    return files;
}

std::vector<std::string> runtimes_with_json(const std::vector<std::string>& texts) {
    std::vector<std::string> all;
    for (const auto& text : texts)
        for (const TomlEntry& entry : read_toml(text))
            if (entry.table == "engine" && entry.key == "runtime_supports_json") all = entry.strings;
    return all;
}

std::string podman_config(std::vector<std::string> with_json, const std::string& program, bool as_default) {
    if (with_json.empty()) with_json = built_in();
    // By its name below engine.runtimes, and by the name of the program if `--runtime` has a path.
    for (const std::string& name : {std::string("cgpu"), std::filesystem::path(program).filename().string()})
        if (std::find(with_json.begin(), with_json.end(), name) == with_json.end()) with_json.push_back(name);
    return "# Written by cgpuctl runtime configure --for podman; with --remove it goes.\n"
           "[engine]\n" +
           std::string(as_default ? "runtime = \"cgpu\"\n" : "") +
           "# So that Podman shows why a container was refused.\n" +
           "runtime_supports_json = " + list_text(with_json) + "\n\n[engine.runtimes]\ncgpu = [" +
           quoted(program) + "]\n";
}

std::optional<PodmanFile> later_default(const std::vector<PodmanFile>& files) {
    std::optional<PodmanFile> found;
    for (const auto& [path, text] : files) {
        if (!path.starts_with(kPodmanDropIns) || path <= kPodmanFile) continue;
        for (const TomlEntry& entry : read_toml(text))
            if (entry.table == "engine" && entry.key == "runtime" && !entry.strings.empty())
                found = PodmanFile{path, entry.strings.front()};
    }
    if (found && found->text == "cgpu") found.reset();
    return found;
}

}  // namespace cgpu::cgpuctl
