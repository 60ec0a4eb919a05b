#pragma once

#include <optional>
#include <string>

#include "client/runtime/hooks/container_state.hpp"
#include "client/runtime/oci/own_hook.hpp"

namespace cgpu::runtime {

/// createRuntime of a container without a limit, after all other hooks that may bring GPUs in: what it has,
/// by its finished bundle and by what is in it, if that is more than cgpud knows of; else null. Errors are
/// those of gpus_in_container() and OciBundle::read().
[[nodiscard]] Result<std::optional<GpuAccess>> gpus_beyond(const ContainerState& container,
                                                           const KnownGpus& known);

/// createRuntime of a managed container, after such hooks. Error (refused): it has GPUs besides the granted
/// ones; also as gpus_beyond(). A privileged container may open all by the rules of its device cgroup.
[[nodiscard]] Result<void> check_granted_gpus(const ContainerState& container, const KnownGpus& granted);

}  // namespace cgpu::runtime
