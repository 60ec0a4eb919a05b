#include "client/runtime/oci/engine_record.hpp"

#include <filesystem>

#include "client/runtime/oci/json_file.hpp"

namespace cgpu::runtime {
namespace {

namespace fs = std::filesystem;

/// Without a name there is no record.
EngineRecord docker_record(const fs::path& hostname_file, const std::string& id) {
    const auto folder = hostname_file.parent_path();
    // If a user's own file is mounted over /etc/hostname, it gives no name.
    if (!folder.is_absolute() || folder.filename() != id) return {};
    const Json note = read_json(folder / "config.v2.json");
    const std::string name = text_at(note, "/Name");
    return {name.starts_with('/') ? name.substr(1) : name, text_at(note, "/Config/Image")};
}

EngineRecord in_podmans_list(const fs::path& file, const std::string& id) {
    const Json list = read_json(file);
    if (!list.is_array()) return {};
    for (const Json& each : list) {
        if (text_at(each, "/id") != id) continue;
        const Json names = each.value("names", Json::array());
        if (!names.is_array() || names.empty() || !names.front().is_string()) continue;
        // Its metadata are JSON in a string.
        const Json metadata = Json::parse(text_at(each, "/metadata"), nullptr, false);
        return {names.front().get<std::string>(), text_at(metadata, "/image-name")};
    }
    return {};
}

/// Podman: the bundle is the folder `…/overlay-containers/ID/userdata` of its storage, whose lists have the
/// names. Containers that go when they end (--rm, quadlet's services) have a list of their own in newer ones.
EngineRecord podman_record(const fs::path& bundle, const std::string& id) {
    const auto storage = bundle.parent_path().parent_path();
    if (bundle.filename() != "userdata" || bundle.parent_path().filename() != id) return {};
    for (const auto* list : {"containers.json", "volatile-containers.json"}) {
        if (auto record = in_podmans_list(storage / list, id); !record.name.empty()) return record;
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

std::string of(const Variables& annotations, const char* key) {
    const auto found = annotations.find(key);
    return found == annotations.end() ? std::string() : found->second;
}

/// containerd without Docker: an id counts within its namespace only.
EngineRecord containerd_record(const OciBundle& bundle, const fs::path& folder, const std::string& id) {
    const auto place = folder.parent_path();
    const auto tasks = place.parent_path().filename();
    if (folder.filename() != id || tasks != "io.containerd.runtime.v2.task" || place.filename() == "moby")
        return {};
    const auto annotations = bundle.annotations();
    const auto image = of(annotations, "io.kubernetes.cri.image-name");
    if (auto name = pod_name(annotations); !name.empty()) return {name, image};
    const auto name = of(annotations, "nerdctl/name");
    return {place.filename().string() + "/" + (name.empty() ? id : name), image};
}

}  // namespace

EngineRecord engine_record(const OciBundle& bundle, const std::string& id) {
    if (auto record = docker_record(bundle.mount_source("/etc/hostname"), id); !record.name.empty())
        return record;
    std::error_code none;
    const auto folder = fs::weakly_canonical(bundle.folder(), none);
    if (auto record = podman_record(folder, id); !record.name.empty()) return record;
    if (auto record = containerd_record(bundle, folder, id); !record.name.empty()) return record;
    const auto host = bundle.host_name();
    return {id.starts_with(host) ? std::string() : host, ""};
}

}  // namespace cgpu::runtime
