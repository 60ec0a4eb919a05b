#include "client/runtime/oci/engine_name.hpp"

#include <filesystem>
#include <fstream>

namespace cgpu::runtime {
namespace {

namespace fs = std::filesystem;

Json read_json(const fs::path& path) {
    std::ifstream file(path);
    return file.is_open() ? Json::parse(file, nullptr, false) : Json();
}

std::string docker_name(const fs::path& hostname_file, const std::string& id) {
    const auto folder = hostname_file.parent_path();
    // If a user's own file is mounted over /etc/hostname, it gives no name.
    if (!folder.is_absolute() || folder.filename() != id) return {};
    const Json note = read_json(folder / "config.v2.json");
    if (!note.is_object()) return {};
    const auto name = note.find("Name");
    if (name == note.end() || !name->is_string()) return {};
    const auto& text = name->get_ref<const std::string&>();
    return text.starts_with('/') ? text.substr(1) : text;
}

/// Podman: the bundle is the folder `…/overlay-containers/ID/userdata` of its storage, whose list has the
/// names.
std::string podman_name(const fs::path& bundle, const std::string& id) {
    const auto storage = bundle.parent_path().parent_path();
    if (bundle.filename() != "userdata" || bundle.parent_path().filename() != id) return {};
    const Json list = read_json(storage / "containers.json");
    if (!list.is_array()) return {};
    for (const Json& each : list) {
        if (!each.is_object() || each.value("id", Json()) != id) continue;
        const Json names = each.value("names", Json::array());
        if (names.is_array() && !names.empty() && names.front().is_string())
            return names.front().get<std::string>();
    }
    return {};
}

/// Kubernetes' name of a container, as containerd's CRI annotates it: NAMESPACE/POD/CONTAINER.
std::string pod_name(const Variables& annotations) {
    std::string name;
    for (const auto* part : {"sandbox-namespace", "sandbox-name", "container-name"}) {
        const auto found = annotations.find(std::string("io.kubernetes.cri.") + part);
        if (found == annotations.end() || found->second.empty()) return {};
        name += (name.empty() ? "" : "/") + found->second;
    }
    return name;
}

/// containerd without Docker: an id counts within its namespace only.
std::string containerd_name(const OciBundle& bundle, const fs::path& folder, const std::string& id) {
    const auto place = folder.parent_path();
    const auto tasks = place.parent_path().filename();
    if (folder.filename() != id || tasks != "io.containerd.runtime.v2.task" || place.filename() == "moby")
        return {};
    const auto annotations = bundle.annotations();
    if (auto name = pod_name(annotations); !name.empty()) return name;
    const auto name = annotations.find("nerdctl/name");
    return place.filename().string() + "/" +
           (name != annotations.end() && !name->second.empty() ? name->second : id);
}

}  // namespace

std::string engine_name(const OciBundle& bundle, const std::string& id) {
    if (auto name = docker_name(bundle.mount_source("/etc/hostname"), id); !name.empty()) return name;
    std::error_code none;
    const auto folder = fs::weakly_canonical(bundle.folder(), none);
    if (auto name = podman_name(folder, id); !name.empty()) return name;
    if (auto name = containerd_name(bundle, folder, id); !name.empty()) return name;
    const auto host = bundle.host_name();
    return id.starts_with(host) ? std::string() : host;
}

}  // namespace cgpu::runtime
