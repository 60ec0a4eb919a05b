#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/upgrade/version.hpp"

namespace cgpu::upgrade {

/// The tables of engines that this release's fronts can call (module/engine/abi/api.hpp).
constexpr std::uint32_t kOldestEngineAbi = 2;
constexpr std::uint32_t kNewestEngineAbi = 2;

/// What a version of the module declares: `manifest.json` beside its engine file, in a folder named after the
/// version. bundle/manifest_text.hpp reads and writes it.
struct Manifest {
    Version version;
    std::uint32_t abi = 0;    ///< of the engine's table of functions
    std::uint32_t pages = 0;  ///< version of the shared pages that the engine reads and writes
    std::uint32_t link = 0;   ///< newest version of the link's messages that the release's fronts speak
    Version compatible_from;  ///< the oldest version that it takes running processes over from, and back to
    Version least_front;      ///< the oldest front that may run it
    std::string engine;       ///< the engine's file: engine_name(version)
    std::string sha256;       ///< of that file, 64 hex digits in lower case
    std::string machine;      ///< that it runs on, as uname says it: x86_64

    friend bool operator==(const Manifest&, const Manifest&) = default;
};

constexpr std::string_view kEnginePrefix = "libcgpu-engine.so.";

/// `libcgpu-engine.so.1.2.3`: each version has a name of its own, because a mapped file is never overwritten.
[[nodiscard]] std::string engine_name(const Version& version);

}  // namespace cgpu::upgrade
