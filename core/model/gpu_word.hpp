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

/// An index, a UUID, a prefix of one (in any case), or a PCI address; null for any other text.
[[nodiscard]] std::optional<GpuWord> parse_gpu_word(std::string_view text);

[[nodiscard]] std::string to_string(const GpuWord& word);

/// The present GPUs that the word means. Several: it is a prefix of several UUIDs.
[[nodiscard]] std::vector<const Gpu*> gpus_meant(const GpuWord& word, std::span<const Gpu> gpus);

/// A lost GPU that the word means: it has the index that it had, unless a present one has it now. Null: none.
[[nodiscard]] const Gpu* lost_gpu_meant(const GpuWord& word, std::span<const Gpu> gpus);

/// What is wrong with such a GPU, in the driver's words if it has given any.
[[nodiscard]] std::string why_lost(const Gpu& gpu);

/// A GPU by all its names.
struct NamedGpu {
    std::uint32_t index = 0;
    std::string_view uuid;  ///< as Uuid::to_string() writes it
    std::optional<PciAddress> pci = std::nullopt;
};

[[nodiscard]] bool is_meant(const GpuWord& word, const NamedGpu& gpu);

}  // namespace cgpu::model
