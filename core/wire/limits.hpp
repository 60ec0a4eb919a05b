#pragma once

#include <cstdint>

/// Constants that all sides of the link share.
namespace cgpu::wire {

/// The version of the messages. A daemon speaks every version from kOldestVersion to kVersion. A module sends
/// the range that it speaks in its Hello, and uses the version in the Welcome. The versions brought:
///   1  memory, gates, figures
///   2  Switch and Switched: engines are exchanged in a running process
///   3  HandOver and DriverFiles: the driver's libraries come by descriptor instead of by path
constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kOldestVersion = 1;
constexpr std::uint32_t kSwitchVersion = 2;
constexpr std::uint32_t kDriverVersion = 3;

/// The version of the pages' layout.
constexpr std::uint32_t kPageVersion = 1;

/// The maximum number of GPUs of one instance. Page layouts depend on it: a change is a new version.
constexpr std::uint32_t kMaxGpus = 16;

/// The driver's unit of device memory: allocations of at least this size are whole multiples of it, smaller
/// ones share a block of it. Charges and leases are multiples of it.
constexpr std::uint64_t kGranule = 2ull << 20;

/// Rounds bytes down to whole units.
constexpr std::uint64_t align_down(std::uint64_t bytes, std::uint64_t unit = kGranule) {
    return bytes / unit * unit;
}
/// Rounds up; if the result doesn't fit, it is the largest multiple that does.
constexpr std::uint64_t align_up(std::uint64_t bytes, std::uint64_t unit = kGranule) {
    const std::uint64_t most = align_down(~std::uint64_t{0}, unit);
    return bytes > most ? most : align_down(bytes, unit) + (bytes % unit == 0 ? 0 : unit);
}

/// Where a managed process finds the daemon and the engine, inside its own mount namespace. The paths are
/// fixed, because the environment is under the user's control.
constexpr const char* kLinkSocket = "/run/cgpu/link/socket";
constexpr const char* kModuleFolder = "/run/cgpu/module";
/// Where fronts that speak a version below kDriverVersion find the driver's real files. The environment can
/// lead to that path, too, so nothing is mounted there for any other front.
constexpr const char* kOldDriverFolder = "/run/cgpu/driver";

}  // namespace cgpu::wire
