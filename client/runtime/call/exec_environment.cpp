#include "client/runtime/call/exec_environment.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/runtime/oci/json_file.hpp"
#include "core/request/variables.hpp"
#include "files/descriptor.hpp"

namespace cgpu::runtime {
namespace {

constexpr std::string_view kCudaDevices = "CUDA_VISIBLE_DEVICES";
/// The variables of a grant.
constexpr std::array<std::string_view, 5> kGranted = {request::names::kNvidiaDevices, kCudaDevices,
                                                      request::names::kMemContainer, request::names::kMemDev,
                                                      request::names::kMemUnit};
/// A description of a process has some kilobytes.
constexpr off_t kMostBytes = off_t{16} << 20;

/// runc's state has it among the container's labels.
std::string bundle_of_runc(const Json& state) {
    constexpr std::string_view kLabel = "bundle=";
    const Json::json_pointer labels("/config/labels");
    if (!state.is_object() || !state.contains(labels) || !state[labels].is_array()) return {};
    for (const Json& label : state[labels])
        if (label.is_string() && label.get_ref<const std::string&>().starts_with(kLabel))
            return label.get<std::string>().substr(kLabel.size());
    return {};
}

/// The folder of the container's config.json; empty if it isn't found.
std::string find_bundle(const Invocation& invocation) {
    std::vector<std::string> roots = {invocation.root};
    if (invocation.root.empty()) roots = {"/run/runc", "/run/crun"};
    for (const std::string& root : roots) {
        const std::string folder = root + "/" + invocation.id;
        if (auto bundle = bundle_of_runc(read_json(folder + "/state.json")); !bundle.empty()) return bundle;
        if (auto bundle = text_at(read_json(folder + "/status"), "/bundle"); !bundle.empty()) return bundle;
    }
    return {};
}

bool names_variable(const Json& entry, std::string_view name) {
    if (!entry.is_string()) return false;
    const auto& text = entry.get_ref<const std::string&>();
    return text.size() > name.size() && text[name.size()] == '=' && text.starts_with(name);
}

/// The process's environment with the variables of the grant.
Json with_grant(const Json& environment, const Variables& granted) {
    const bool own_numbers = std::any_of(environment.begin(), environment.end(), [](const Json& entry) {
        return names_variable(entry, kCudaDevices);
    });
    const auto is_replaced = [&](std::string_view name) { return name != kCudaDevices || !own_numbers; };
    Json list = Json::array();
    for (const Json& entry : environment) {
        const bool replaced = std::any_of(kGranted.begin(), kGranted.end(), [&](std::string_view name) {
            return is_replaced(name) && names_variable(entry, name);
        });
        if (!replaced) list.push_back(entry);
    }
    for (const std::string_view name : kGranted)
        if (const auto value = granted.find(std::string(name)); value != granted.end() && is_replaced(name))
            list.push_back(value->first + "=" + value->second);
    return list;
}

std::string read_all(int file, std::size_t size) {
    std::string text(size, '\0');
    const ssize_t count = pread(file, text.data(), size, 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
}

/// In place: the file lies in a folder where others may make files, and its owner and mode stay.
bool write_all(int file, const std::string& text) {
    return ftruncate(file, 0) == 0 &&
           pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

bool grant_to_executed(const Invocation& invocation) {
    if (invocation.command != "exec" || invocation.process.empty() || invocation.id.empty()) return false;
    const std::string folder = find_bundle(invocation);
    if (folder.empty()) return false;
    const auto bundle = OciBundle::read(folder);
    if (!bundle || !bundle->is_managed()) return false;
    const Descriptor file(open(invocation.process.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (file.fd() < 0 || fstat(file.fd(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMostBytes)
        return false;
    const std::string text = read_all(file.fd(), static_cast<std::size_t>(info.st_size));
    Json process = Json::parse(text, nullptr, false);
    if (!process.is_object()) return false;
    const auto env = process.find("env");
    process["env"] =
        with_grant(env != process.end() && env->is_array() ? *env : Json::array(), bundle->environment());
    const std::string changed = process.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (write_all(file.fd(), changed)) return true;
    write_all(file.fd(), text);
    return false;
}

}  // namespace cgpu::runtime
