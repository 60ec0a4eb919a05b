#include "client/runtime/oci/engine_name.hpp"

#include <filesystem>
#include <fstream>

namespace cgpu::runtime {
namespace {

std::string docker_name(const std::filesystem::path& hostname_file, const std::string& id) {
    const auto folder = hostname_file.parent_path();
    // If a user's own file is mounted over /etc/hostname, it gives no name.
    if (!folder.is_absolute() || folder.filename() != id) return {};
    std::ifstream file(folder / "config.v2.json");
    const Json note = Json::parse(file, nullptr, false);
    if (!file.is_open() || !note.is_object()) return {};
    const auto name = note.find("Name");
    if (name == note.end() || !name->is_string()) return {};
    const auto& text = name->get_ref<const std::string&>();
    return text.starts_with('/') ? text.substr(1) : text;
}

}  // namespace

std::string engine_name(const OciBundle& bundle, const std::string& id) {
    if (auto name = docker_name(bundle.mount_source("/etc/hostname"), id); !name.empty()) return name;
    const auto host = bundle.host_name();
    return id.starts_with(host) ? std::string() : host;
}

}  // namespace cgpu::runtime
