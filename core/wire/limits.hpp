#pragma once

#include <cstdint>

/// Constants that all sides of the link share.
namespace cgpu::wire {

/// Versions of the messages, both included.
struct Versions {
    std::uint32_t oldest;
    std::uint32_t newest;
};

/// The versions that this release speaks, as a daemon and as a module. A module sends its range in its Hello,
/// and uses the version in the Welcome. Number 3 is that of cgpu 1.0.0; a number is never given again.
constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kOldestVersion = 3;
constexpr Versions kSpoken{kOldestVersion, kVersion};

/// The newest version that both sides speak; 0: there is none.
constexpr std::uint32_t common_version(const Versions& one, const Versions& other) {
    const std::uint32_t newest = one.newest < other.newest ? one.newest : other.newest;
    return newest < one.oldest || newest < other.oldest ? 0 : newest;
}

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

}  // namespace cgpu::wire
