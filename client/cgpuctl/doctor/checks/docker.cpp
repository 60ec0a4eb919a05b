// Whether Docker knows cgpu's runtime.
#include "client/cgpuctl/docker/docker_config.hpp"
#include "client/cgpuctl/doctor/checks/checks.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr const char* kDocker = "Docker";
constexpr const char* kRegister = "cgpuctl runtime configure";

/// Of an entry of `runtimes`; empty: it has none.
std::string path_of(const OrderedJson& entry) {
    const auto path = entry.is_object() ? entry.find("path") : entry.end();
    return entry.is_object() && path != entry.end() && path->is_string() ? path->get<std::string>() : "";
}

Finding missing(const std::string& name, const std::string& path) {
    return {Level::problem, kDocker,
            std::string(kDockerFile) + ": its runtime " + name + " is " + path + ", which does not exist",
            "containers with --runtime=" + name + " don't start",
            name == "cgpu" ? std::string(kRegister) : "install it, or delete the entry from the file"};
}

Findings check_registration(const Host& host, const OrderedJson& values) {
    const auto runtimes = values.find("runtimes");
    const OrderedJson none = OrderedJson::object();
    const OrderedJson& all = runtimes != values.end() && runtimes->is_object() ? *runtimes : none;
    if (!all.contains("cgpu"))
        return {{Level::warning, kDocker, std::string(kDockerFile) + " has no runtime cgpu",
                 "docker run --runtime=cgpu is refused", kRegister}};
    Findings findings;
    for (const auto& [name, entry] : all.items()) {
        const std::string path = path_of(entry);
        if (path.empty() || path.front() != '/' || host.executable(path)) continue;
        findings.push_back(missing(name, path));
    }
    const auto chosen = values.find("default-runtime");
    const std::string by_default =
        chosen != values.end() && chosen->is_string() ? chosen->get<std::string>() : "runc";
    if (by_default != "runc" && !all.contains(by_default))
        findings.push_back(
            {Level::problem, kDocker,
             std::string(kDockerFile) + ": its default-runtime " + by_default + " is none of its runtimes",
             "dockerd does not start with it",
             "cgpuctl runtime configure --default, or correct the file by hand"});
    if (findings.empty())
        findings.push_back(ok(kDocker, "the runtime cgpu is registered" +
                                           std::string(by_default == "cgpu" ? ", and is the default" : "")));
    return findings;
}

}  // namespace

Findings check_docker(const Look& look) {
    if (!look.host.has_program("dockerd") && !look.host.exists(kDockerFile))
        return {ok(kDocker, "it is not installed")};
    const auto config = read_docker_config(look.host.at(kDockerFile));
    if (config) return check_registration(look.host, config->values);
    if (config.error().kind == client::ClientError::Kind::not_authorized)
        return {for_root(kDocker, kDockerFile)};
    return {from_message(Level::problem, kDocker, config.error().text)};
}

}  // namespace cgpu::cgpuctl::doctor
