#include "core/model/gpu_word.hpp"

#include <charconv>

#include "core/model/similar.hpp"

namespace cgpu::model {
namespace {

constexpr std::string_view kGpu = "GPU-";
/// NVIDIA's programs print no shorter one, and a typo of a shorter one would too easily name another GPU.
constexpr std::size_t kShortestUuidPrefix = kGpu.size() + 8;
constexpr std::string_view kPattern = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::optional<UuidPrefix> parse_prefix(std::string_view text) {
    if (!text.starts_with(kGpu) || text.size() < kShortestUuidPrefix || text.size() > kPattern.size())
        return std::nullopt;
    const std::string rest = lowered(text.substr(kGpu.size()));
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const bool dash = kPattern[kGpu.size() + i] == '-';
        if (dash ? rest[i] != '-' : !is_hex(rest[i])) return std::nullopt;
    }
    return UuidPrefix{std::string(kGpu) + rest};
}

}  // namespace

std::optional<GpuWord> parse_gpu_word(std::string_view given) {
    std::string text(given);
    if (lowered(text.substr(0, kGpu.size())) == lowered(kGpu)) text.replace(0, kGpu.size(), kGpu);
    std::uint32_t index = 0;
    const char* const last = text.data() + text.size();
    if (const auto [end, error] = std::from_chars(text.data(), last, index);
        !text.empty() && error == std::errc{} && end == last)
        return index;
    if (const auto uuid = Uuid::parse(text)) return *uuid;
    if (auto prefix = parse_prefix(text)) return std::move(*prefix);
    if (const auto address = PciAddress::parse(text)) return *address;
    return std::nullopt;
}

std::string to_string(const GpuWord& word) {
    if (const auto* index = std::get_if<std::uint32_t>(&word)) return std::to_string(*index);
    if (const auto* uuid = std::get_if<Uuid>(&word)) return uuid->to_string();
    if (const auto* prefix = std::get_if<UuidPrefix>(&word)) return prefix->text;
    return std::get<PciAddress>(word).to_string();
}

bool is_meant(const GpuWord& word, const NamedGpu& gpu) {
    if (const auto* index = std::get_if<std::uint32_t>(&word)) return gpu.index == *index;
    if (const auto* uuid = std::get_if<Uuid>(&word)) return gpu.uuid == uuid->to_string();
    if (const auto* prefix = std::get_if<UuidPrefix>(&word)) return gpu.uuid.starts_with(prefix->text);
    return gpu.pci == std::get<PciAddress>(word);
}

std::vector<const Gpu*> gpus_meant(const GpuWord& word, std::span<const Gpu> gpus) {
    std::vector<const Gpu*> meant;
    for (const Gpu& gpu : gpus) {
        const std::string uuid = gpu.uuid.to_string();
        if (gpu.present && is_meant(word, {gpu.index, uuid, gpu.pci})) meant.push_back(&gpu);
    }
    return meant;
}

const Gpu* lost_gpu_meant(const GpuWord& word, std::span<const Gpu> gpus) {
    if (!gpus_meant(word, gpus).empty()) return nullptr;
    for (const Gpu& gpu : gpus)
        if (!gpu.present && is_meant(word, {gpu.index, gpu.uuid.to_string(), gpu.pci})) return &gpu;
    return nullptr;
}

std::string why_lost(const Gpu& gpu) {
    return "the driver no longer sees it" +
           (gpu.obstacle.empty() ? std::string() : " (" + gpu.obstacle + ")");
}

}  // namespace cgpu::model
