// Whether the runtimes that Podman's files name exist.
#include <cerrno>

#include "client/cgpuctl/docker/podman_config.hpp"
#include "client/cgpuctl/docker/toml.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kPodman = "Podman";
constexpr const char* kTable = "engine.runtimes";

}  // namespace

Findings check_podman(const Look& look) {
    if (!look.host.has_program("podman")) return {ok(kPodman, "it is not installed")};
    std::string file;
    std::vector<std::string> paths;
    for (const std::string& each : podman_files(look.host.names_in(kPodmanDropIns))) {
        const auto [text, error] = look.host.read(each);
        if (error == EACCES) return {for_root(kPodman, each)};
        for (const TomlEntry& entry : read_toml(text)) {
            if (entry.table != kTable || entry.key != "cgpu") continue;
            file = each;
            paths = entry.strings;
        }
    }
    if (file.empty())
        return {ok(kPodman,
                   "no runtime cgpu is registered; podman --runtime /usr/bin/cgpu-runtime needs none, and "
                   "cgpuctl runtime configure --for podman registers it")};
    for (const std::string& path : paths)
        if (look.host.executable(path)) return {ok(kPodman, "the runtime cgpu is registered in " + file)};
    return {{Level::problem, kPodman,
             file + ": its runtime cgpu is " + (paths.empty() ? "nothing" : paths.front()) +
                 ", which does not exist",
             "containers with --runtime=cgpu don't start",
             "cgpuctl runtime configure --for podman, or correct its table engine.runtimes"}};
}

}  // namespace cgpu::cgpuctl::doctor
