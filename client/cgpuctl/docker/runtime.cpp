#include "client/cgpuctl/docker/runtime.hpp"
#include "client/cgpuctl/docker/runtime_program.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

Result<void> check(const RuntimeInput& input) {
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

}  // namespace

Result<void> runtime(const RuntimeInput& input, client::Node&, Terminal& terminal) {
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
    return configure_docker(input, terminal);
}

}  // namespace cgpu::cgpuctl
