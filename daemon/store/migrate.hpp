#pragma once

#include <cstdint>
#include <span>

#include <nlohmann/json_fwd.hpp>

namespace cgpu::store {

/// The version of state.json that this cgpud writes. Every change of the format needs a new version with a
/// Migration to it; a number is never given again.
constexpr std::uint64_t kStateVersion = 12;
/// The version of cgpu 1.0.0: no release wrote an older one.
constexpr std::uint64_t kOldestStateVersion = 9;

/// The step that turns a document of version `from` into one of version `from` + 1.
struct Migration {
    std::uint64_t from;
    void (*step)(nlohmann::json& document);
};

/// The versions that are read, and the step from each to the next one. Tests make up those of a later cgpud.
struct Layouts {
    std::uint64_t oldest;
    std::uint64_t newest;
    std::span<const Migration> steps;

    [[nodiscard]] static const Layouts& today();
};

/// Migrates the document step by step from its version to the newest one and writes that into it. False: the
/// version is older than the oldest, or a step is missing.
[[nodiscard]] bool migrate(nlohmann::json& document, std::uint64_t from, const Layouts& layouts);

}  // namespace cgpu::store
