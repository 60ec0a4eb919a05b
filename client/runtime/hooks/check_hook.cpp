#include "client/runtime/hooks/check_hook.hpp"

#include <algorithm>

#include "client/runtime/hooks/container_gpus.hpp"

namespace cgpu::runtime {
namespace {

/// What the bundle opens, and what is in the container with this first process.
Result<GpuAccess> finally_has(const OciBundle& bundle, std::uint32_t pid) {
    auto found = gpus_in_container("/proc/" + std::to_string(pid), bundle.root());
    // A runtime that makes no namespaces, such as one of virtual machines, gets no more than the bundle says.
    if (!found && found.error().kind == client::ClientError::Kind::failed && !has_hooks_of_others(bundle))
        found = GpuAccess{};
    if (!found) return found;
    const GpuAccess opened = gpu_access(bundle);
    found->nodes.insert(opened.nodes.begin(), opened.nodes.end());
    found->rules = opened.rules;
    found->all_by_rule = opened.all_by_rule;
    found->control = found->control || opened.control;
    found->driver = found->driver || opened.driver;
    return found;
}

}  // namespace

Result<std::optional<GpuAccess>> gpus_beyond(const ContainerState& container, const KnownGpus& known) {
    const auto bundle = OciBundle::read(container.bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    auto has = finally_has(*bundle, container.pid);
    if (!has) return tl::unexpected(has.error());
    return known.covers(*has) ? std::nullopt : std::optional(std::move(*has));
}

Result<void> check_granted_gpus(const ContainerState& container, const KnownGpus& granted) {
    const auto bundle = OciBundle::read(container.bundle);
    if (!bundle) return tl::unexpected(bundle.error());
    auto has = finally_has(*bundle, container.pid);
    if (!has) return tl::unexpected(has.error());
    if (is_privileged(*bundle)) {
        has->all_by_rule = false;
        has->rules.clear();
    }
    const auto gpus = has->gpus();
    const auto other = std::find_if_not(gpus.begin(), gpus.end(),
                                        [&](std::uint32_t minor) { return granted.minors.contains(minor); });
    if (other == gpus.end() && !has->all_by_rule) return {};
    return client::fail(client::ClientError::Kind::refused,
                        "the container: it has " +
                            (other == gpus.end() ? "all GPUs" : "/dev/nvidia" + std::to_string(*other)) +
                            ", of which it was granted no part. Try: name GPUs by CGPU_GPUS only, and not by "
                            "volumes, annotations or variables of NVIDIA's.");
}

}  // namespace cgpu::runtime
