#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/model/gpu.hpp"

/// How users name a GPU: as NVIDIA's own programs take it.
namespace cgpu::model {

/// The beginning of a UUID, from `GPU-xxxxxxxx` on, in lower case behind `GPU-`.
struct UuidPrefix {
    std::string text;
    friend bool operator==(const UuidPrefix&, const UuidPrefix&) = default;
};

using GpuWord = std::variant<std::uint32_t, Uuid, UuidPrefix, PciAddress>;

/// An index, a UUID, a prefix of one, or a PCI address; null for any other text.
[[nodiscard]] std::optional<GpuWord> parse_gpu_word(std::string_view text);

[[nodiscard]] std::string to_string(const GpuWord& word);

/// The present GPUs that the word means. Several: it is a prefix of several UUIDs.
[[nodiscard]] std::vector<const Gpu*> gpus_meant(const GpuWord& word, std::span<const Gpu> gpus);

/// Whether a UUID as written, in lower case, begins with what is written.
[[nodiscard]] bool begins_with(std::string_view uuid, const UuidPrefix& prefix);

}  // namespace cgpu::model
