#pragma once

#include <array>
#include <string>
#include <vector>

/// What cgpu's hooks in containers have in common, whether cgpu-runtime adds them to a bundle or an engine by
/// one of cgpu's CDI devices.
namespace cgpu::client {

/// Seconds. The daemon answers in milliseconds; one that has just been restarted may need a few seconds.
inline constexpr int kHookTimeout = 30;

/// The mounts are made below this folder. crun makes a read-only root read-only before the hooks run, so the
/// folder must come by a tmpfs of the container's description.
inline constexpr const char* kPlaceOfMounts = "/run/cgpu";
inline constexpr std::array<const char*, 5> kPlaceOptions = {"nosuid", "nodev", "noexec", "mode=755",
                                                             "size=64k"};

/// A hook without an environment of its own gets the image's from runc 1.1, with an LD_PRELOAD perhaps.
/// `bus_address`: DBUS_SYSTEM_BUS_ADDRESS; empty where the bus is at its usual address.
[[nodiscard]] inline std::vector<std::string> hook_environment(const std::string& bus_address) {
    std::vector<std::string> environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
    if (!bus_address.empty()) environment.push_back("DBUS_SYSTEM_BUS_ADDRESS=" + bus_address);
    return environment;
}

}  // namespace cgpu::client
