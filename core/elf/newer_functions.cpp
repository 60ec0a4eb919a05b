#include "core/elf/newer_functions.hpp"

#include <algorithm>
#include <set>

namespace cgpu::elf {
namespace {

/// NVIDIA's 550 has 21 KiB of symbols and 17 KiB of names.
constexpr std::uint64_t kMostOfDrivers = std::uint64_t{64} << 10;
constexpr std::size_t kLongestName = 80;

bool is_plausible(std::string_view name) {
    const auto in_a_name = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    };
    return name.starts_with("cu") && name.size() <= kLongestName && std::ranges::all_of(name, in_a_name);
}

bool is_known(std::string_view name) { return std::ranges::binary_search(known_functions(), name); }

}  // namespace

tl::expected<std::vector<std::string>, std::string> newer_functions(const ReadAt& image) {
    const auto found = find_symbols(image, kMostOfDrivers);
    if (!found) return tl::unexpected(found.error());
    std::set<std::string, std::less<>> newer;
    for (const Elf64_Sym& symbol : found->symbols) {
        if (!is_exported(symbol) || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        const auto name = found->name_of(symbol);
        if (!name) return corrupt("a symbol's name reaches beyond its end");
        if (newer.size() < kMostNewer && is_plausible(*name) && !is_known(*name)) newer.emplace(*name);
    }
    return std::vector<std::string>(newer.begin(), newer.end());
}

}  // namespace cgpu::elf
