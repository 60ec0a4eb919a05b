#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/runtime/oci/gpu_devices.hpp"
#include "client/runtime/oci/oci_bundle.hpp"

/// The hooks that cgpu-runtime adds to a bundle, and what they say of the container's GPUs.
namespace cgpu::runtime {

struct OwnHooks {
    std::string program;         ///< cgpu-runtime's path
    std::string bus_address;     ///< DBUS_SYSTEM_BUS_ADDRESS of the caller; empty where it has none
    std::string log_argument{};  ///< hook_log.hpp; may be empty

    /// One with these arguments after `cgpu-runtime hook`.
    [[nodiscard]] Json hook(std::vector<std::string> arguments) const;
};

/// Whether hooks of others run before the container's process is attached, which may bring GPUs in: NVIDIA's
/// of the mode legacy (`docker run --gpus`, Podman's hooks.d) is one. Docker's own hook of networks isn't
/// counted.
[[nodiscard]] bool has_hooks_of_others(const OciBundle& bundle);

/// The GPUs that cgpud knows the container to have, as an argument of a hook: `gpus=0,1` (minor numbers).
/// `gpus=all` and `gpus=none` are possible for containers without a limit; if they have booked their GPUs, it
/// begins with `whole=`.
struct KnownGpus {
    std::set<std::uint32_t> minors{};
    bool all = false;
    bool booked = false;

    [[nodiscard]] bool none() const { return !all && minors.empty(); }
    /// Whether the container gets no GPU besides these. The driver without a device node counts only if it
    /// isn't known to have any.
    [[nodiscard]] bool covers(const GpuAccess& access) const;
    [[nodiscard]] std::string argument() const;
    /// Null: it isn't such an argument.
    [[nodiscard]] static std::optional<KnownGpus> read(const std::string& argument);
};

/// The first arguments of the hook that tells cgpud the container's first process. The container's id
/// follows, and then the granted GPUs of a managed container that may get others (may_get_gpus_later()).
inline const std::vector<std::string> kAttachHook = {"cgpu-runtime", "hook", "attach"};
/// The first arguments of the hook that compares what a container without a limit finally gets with what
/// cgpud knows of it. The container's id and the known GPUs follow.
inline const std::vector<std::string> kCheckHook = {"cgpu-runtime", "hook", "check"};

/// Adds that hook at the end of its stage, createRuntime: hooks of NVIDIA's that bring GPUs in are of the
/// stage prestart.
void add_check_hook(OciBundle& bundle, const OwnHooks& own, const std::string& id, const KnownGpus& known);

/// What the first one says of a managed container's GPUs; null: nothing.
[[nodiscard]] std::optional<KnownGpus> granted_gpus(const OciBundle& bundle);
/// What the second one says; null: there is none.
[[nodiscard]] std::optional<KnownGpus> checked_gpus(const OciBundle& bundle);

}  // namespace cgpu::runtime
