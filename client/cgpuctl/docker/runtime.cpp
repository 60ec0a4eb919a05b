#include "client/cgpuctl/base/verbs.hpp"
#include "client/cgpuctl/docker/configure_containerd.hpp"
#include "client/cgpuctl/docker/configure_podman.hpp"
#include "client/cgpuctl/docker/docker_config.hpp"
#include "client/cgpuctl/docker/docker_reload.hpp"
#include "client/cgpuctl/docker/runtime_program.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

Result<void> check(const Input& input) {
    if (input.action != "configure")
        return client::fail(Kind::usage, "cgpuctl runtime " + model::quote(input.action) +
                                             ": there is no such action. Try: cgpuctl runtime configure.");
    if (!input.as.empty() && input.as != "nvidia")
        return client::fail(Kind::usage, "--as " + model::quote(input.as) +
                                             ": the only other name is nvidia. Try: --as nvidia.");
    if (!input.engine.empty() && input.engine != "docker" && input.engine != "podman" &&
        input.engine != "containerd")
        return client::fail(Kind::usage, "--for " + model::quote(input.engine) +
                                             ": it is no engine that cgpuctl configures. Try: --for docker, "
                                             "--for podman or --for containerd.");
    if (input.engine == "podman" && (!input.as.empty() || !input.file.empty() || input.no_reload))
        return client::fail(
            Kind::usage,
            "--for podman: --as, --file and --no-reload are for Docker. Try: cgpuctl runtime configure "
            "--for podman.");
    if (input.engine == "containerd" && (!input.as.empty() || input.make_default || input.no_reload))
        return client::fail(
            Kind::usage,
            "--for containerd: --as, --default and --no-reload are for the other engines. Try: cgpuctl "
            "runtime "
            "configure --for containerd, and name the runtime cgpu where a container is described.");
    if (input.remove && (input.make_default || !input.as.empty()))
        return client::fail(
            Kind::usage,
            "--remove: it already undoes --as and --default. Try: cgpuctl runtime configure --remove.");
    return {};
}

Result<DockerConfig> changed(const Input& input, const DockerConfig& config) {
    if (input.remove) return without_runtime(config);
    const auto program = runtime_program();
    if (!program) return tl::unexpected(program.error());
    return with_runtime(config, {*program, input.as == "nvidia", input.make_default});
}

}  // namespace

Result<void> runtime(const Input& input, client::Node&, Terminal& terminal) {
    if (auto checked = check(input); !checked) return checked;
    if (input.engine == "podman") {
        const auto program = input.remove ? Result<std::string>() : runtime_program();
        if (!program) return tl::unexpected(program.error());
        return configure_podman(input, *program, terminal);
    }
    if (input.engine == "containerd") {
        const auto program = input.remove ? Result<std::string>() : runtime_program();
        if (!program) return tl::unexpected(program.error());
        return configure_containerd(input, *program, terminal);
    }
    const std::string file = input.file.empty() ? kDockerFile : input.file;
    const auto old = read_docker_config(file);
    if (!old) return tl::unexpected(old.error());
    const auto next = changed(input, *old);
    if (!next) return tl::unexpected(next.error());
    const std::string what = input.remove ? "the runtime cgpu is not in it any more"
                                          : "it has the runtime cgpu (docker run --runtime=cgpu …)";
    if (input.dry_run) {
        terminal.done(file + ": " + (*next == *old ? "nothing would change" : "it would be changed") +
                      "; nothing was.");
        return {};
    }
    if (input.remove && *next == *old) {
        terminal.done(file + ": the runtime cgpu is not in it; there is nothing to undo.");
        return {};
    }
    if (*next != *old)
        if (auto written = write_docker_config(file, *next); !written) return written;
    if (input.no_reload) {
        terminal.done(file + ": " + what + "; dockerd was not told.");
        return {};
    }
    const auto reload = reload_docker(*next);
    if (!reload) return tl::unexpected(reload.error());
    switch (*reload) {
        case Reload::done:
            terminal.done(file + ": " + what + "; dockerd has been told to read it again.");
            break;
        case Reload::not_running:
            terminal.done(file + ": " + what + "; no dockerd runs, it will read it when it starts.");
            break;
    }
    return {};
}

}  // namespace cgpu::cgpuctl
