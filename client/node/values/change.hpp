#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cgpu::client {

/// A change of a GPU's settings (`instance` is empty), or of what an instance may use on a GPU; what is empty
/// stays.
struct Change {
    std::string instance;  ///< id, unique prefix of an id, or name
    std::string gpu;       ///< index or UUID; may be empty if the instance has one GPU only
    std::optional<std::string> policy = std::nullopt;  ///< number or name
    std::optional<std::uint32_t> max_inst = std::nullopt;
    std::optional<std::uint32_t> prio_ratio = std::nullopt;    ///< per cent
    std::optional<std::uint64_t> memory_limit = std::nullopt;  ///< bytes
    std::optional<std::uint32_t> weight = std::nullopt;
    std::optional<bool> high_priority = std::nullopt;

    friend bool operator==(const Change&, const Change&) = default;
};

}  // namespace cgpu::client
