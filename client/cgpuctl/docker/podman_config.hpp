#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cgpu::cgpuctl {

constexpr const char* kPodmanDropIns = "/etc/containers/containers.conf.d";
/// The file that is cgpu's own among Podman's: later ones win, and the user's stay as they are.
constexpr const char* kPodmanFile = "/etc/containers/containers.conf.d/50-cgpu.conf";

/// Podman's files in the order in which it reads them: of the names in kPodmanDropIns, those that end in
/// `.conf`.
[[nodiscard]] std::vector<std::string> podman_files(std::vector<std::string> names);

/// The runtimes of which Podman shows the reason of a refusal (`runtime_supports_json`), by these files'
/// texts: the last list counts. Empty: none has one, so Podman's built-in list counts.
[[nodiscard]] std::vector<std::string> runtimes_with_json(const std::vector<std::string>& texts);

struct PodmanFile {
    std::string path;
    std::string text;
};
/// The file that Podman reads after cgpu's and that sets another default runtime, with that in the place of
/// its text. `files`: in the order in which Podman reads them.
[[nodiscard]] std::optional<PodmanFile> later_default(const std::vector<PodmanFile>& files);

/// The content of cgpu's file. `with_json`: what the other files list. `program`: the runtime's path.
[[nodiscard]] std::string podman_config(std::vector<std::string> with_json, const std::string& program,
                                        bool as_default);

}  // namespace cgpu::cgpuctl
