#include "client/runtime/oci/oci_bundle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

#include "files/read.hpp"

namespace cgpu::runtime {
namespace {

using Kind = client::ClientError::Kind;

/// The object below the pointer, or an empty one.
Json object_at(const Json& config, const Json::json_pointer& where) {
    return config.contains(where) && config[where].is_object() ? config[where] : Json::object();
}

/// The text of that name in an object; empty if there is none.
std::string text_of(const Json& object, const std::string& name) {
    if (!object.is_object()) return {};
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json::json_pointer kEnv("/process/env");
/// Copying and writing JSON needs stack for each level. OCI's own has some ten levels.
constexpr int kMostDepth = 256;

/// Makes it an object if it isn't one: the former value was invalid, and the next runtime reports that.
void make_object(Json& config, const char* name) {
    if (!config.contains(name) || !config[name].is_object()) config[name] = Json::object();
}

bool names(const Json& entry, const std::string& name) {
    return entry.is_string() && entry.get_ref<const std::string&>().starts_with(name + "=");
}

}  // namespace

bool begins_with(const Json& hook, const std::vector<std::string>& arguments) {
    const Json all = hook.is_object() ? list_at(hook, Json::json_pointer("/args")) : Json::array();
    const Json wanted = arguments;
    return all.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), all.begin());
}

Result<OciBundle> OciBundle::read(const std::string& folder) {
    const std::string absolute = std::filesystem::absolute(folder.empty() ? "." : folder).native();
    constexpr std::size_t kMost = std::size_t{64} << 20;
    const auto text = files::read_text(absolute + "/config.json", kMost);
    bool too_deep = false;
    const auto look = [&too_deep](int depth, Json::parse_event_t, const Json&) {
        too_deep = too_deep || depth > kMostDepth;
        return depth <= kMostDepth;
    };
    Json config = text ? Json::parse(*text, look, false) : Json();
    if (too_deep)
        return client::fail(Kind::failed, absolute + "/config.json: it is nested deeper than " +
                                              std::to_string(kMostDepth) +
                                              " levels. Try: read the container engine's log.");
    if (!config.is_object())
        return client::fail(
            Kind::failed,
            absolute +
                "/config.json: it is not there or no JSON object. Try: read the container engine's log.");
    return OciBundle(absolute, std::move(config));
}

Variables OciBundle::environment() const {
    Variables variables;
    for (const Json& entry : list_at(config_, kEnv)) {
        if (!entry.is_string()) continue;
        const auto& text = entry.get_ref<const std::string&>();
        const auto equals = text.find('=');
        if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return variables;
}

std::string OciBundle::variable(const std::string& name) const {
    const Variables all = environment();
    const auto found = all.find(name);
    return found == all.end() ? std::string() : found->second;
}

Variables OciBundle::annotations() const {
    Variables variables;
    const Json all = object_at(config_, Json::json_pointer("/annotations"));
    for (const auto& [name, value] : all.items())
        if (value.is_string()) variables[name] = value.get<std::string>();
    return variables;
}

std::string OciBundle::host_name() const { return text_of(config_, "hostname"); }

std::string OciBundle::mount_source(const std::string& destination) const {
    for (const Json& mount : list_at(config_, Json::json_pointer("/mounts")))
        if (text_of(mount, "destination") == destination) return text_of(mount, "source");
    return {};
}

bool OciBundle::is_managed() const {
    const Json hooks = list_at(config_, Json::json_pointer("/hooks/createContainer"));
    return std::any_of(hooks.begin(), hooks.end(),
                       [](const Json& hook) { return begins_with(hook, kMountHook); });
}

std::vector<std::string> OciBundle::hook_programs(const std::string& stage) const {
    std::vector<std::string> programs;
    for (const Json& hook : list_at(config_, Json::json_pointer("/hooks/" + stage)))
        programs.push_back(text_of(hook, "path"));
    return programs;
}

std::string OciBundle::root() const {
    const auto root = object_at(config_, Json::json_pointer("/root"));
    const auto path = root.find("path");
    if (path == root.end() || !path->is_string()) return folder_ + "/rootfs";
    return (std::filesystem::path(folder_) / path->get<std::string>()).native();
}

void OciBundle::set_variable(const std::string& name, const std::string& value) {
    remove_variable(name);
    Json list = list_at(config_, kEnv);
    list.push_back(name + "=" + value);
    config_[kEnv] = std::move(list);
}

void OciBundle::remove_variable(const std::string& name) {
    Json kept = Json::array();
    for (Json& entry : list_at(config_, kEnv))
        if (!names(entry, name)) kept.push_back(std::move(entry));
    make_object(config_, "process");
    config_[kEnv] = std::move(kept);
}

void OciBundle::set_annotation(const std::string& name, const std::string& value) {
    make_object(config_, "annotations");
    if (value.empty())
        config_["annotations"].erase(name);
    else
        config_["annotations"][name] = value;
}

void OciBundle::add_hook(const std::string& stage, Json hook) {
    const Json::json_pointer where("/hooks/" + stage);
    make_object(config_, "hooks");
    Json list = list_at(config_, where);
    list.push_back(std::move(hook));
    config_[where] = std::move(list);
}

bool OciBundle::move_hooks_to_the_end(const std::string& stage, const std::vector<std::string>& arguments) {
    const Json::json_pointer where("/hooks/" + stage);
    const Json list = list_at(config_, where);
    Json others = Json::array();
    Json meant = Json::array();
    for (const Json& hook : list) (begins_with(hook, arguments) ? meant : others).push_back(hook);
    if (meant.empty()) return false;
    for (Json& hook : meant) others.push_back(std::move(hook));
    if (others == list) return false;
    config_[where] = std::move(others);
    return true;
}

void OciBundle::remove_hooks(const std::string& stage, const std::vector<std::string>& arguments) {
    const Json::json_pointer where("/hooks/" + stage);
    const Json list = list_at(config_, where);
    Json kept = Json::array();
    for (const Json& hook : list)
        if (!begins_with(hook, arguments)) kept.push_back(hook);
    if (kept.size() != list.size()) config_[where] = std::move(kept);
}

Result<void> OciBundle::write() const {
    const std::string beside = path() + ".cgpu";
    struct stat old {};
    const auto written = files::write_text(beside, config_.dump());
    errno = written ? errno : written.error().error;
    if (!written || stat(path().c_str(), &old) != 0 || chmod(beside.c_str(), old.st_mode & 07777U) != 0 ||
        chown(beside.c_str(), old.st_uid, old.st_gid) != 0 || rename(beside.c_str(), path().c_str()) != 0) {
        const int error = errno;
        unlink(beside.c_str());
        return client::fail(Kind::failed, path() + ": it can't be written: " + std::strerror(error) +
                                              ". Try: check whether the disk is full.");
    }
    return {};
}

}  // namespace cgpu::runtime
