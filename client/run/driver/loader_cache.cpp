#include "client/run/driver/loader_cache.hpp"

#include <cstdint>
#include <cstring>
#include <optional>

namespace cgpu::client {
namespace {

/// As in glibc (sysdeps/generic/dl-cache.h). Offsets of texts count from the header.
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";

struct CacheHeader {
    char magic[20];
    std::uint32_t entries;
    std::uint32_t text_bytes;
    std::uint8_t flags;
    std::uint8_t padding[3];
    std::uint32_t extension;
    std::uint32_t unused[3];
};
static_assert(sizeof(CacheHeader) == 48);

struct CacheEntry {
    std::int32_t flags;
    std::uint32_t name;
    std::uint32_t path;
    std::uint32_t os_version;
    std::uint64_t hardware;
};
static_assert(sizeof(CacheEntry) == 24);

template <class T>
std::optional<T> read_at(std::string_view text, std::size_t offset) {
    if (offset > text.size() || text.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, text.data() + offset, sizeof value);
    return value;
}

/// The text up to its NUL; empty if there is none.
std::string_view text_at(std::string_view cache, std::size_t offset) {
    if (offset >= cache.size()) return {};
    const auto end = cache.find('\0', offset);
    return end == std::string_view::npos ? std::string_view() : cache.substr(offset, end - offset);
}

}  // namespace

std::vector<std::string> cached_paths(std::string_view cache, std::string_view name) {
    std::vector<std::string> paths;
    // Before glibc 2.32 ldconfig wrote an older format in front of this one.
    const auto begin = cache.find(kMagic);
    if (begin == std::string_view::npos) return paths;
    cache.remove_prefix(begin);
    const auto header = read_at<CacheHeader>(cache, 0);
    for (std::size_t i = 0; header && i < header->entries; ++i) {
        const auto entry = read_at<CacheEntry>(cache, sizeof(CacheHeader) + i * sizeof(CacheEntry));
        if (!entry) return {};
        if (text_at(cache, entry->name) != name) continue;
        if (const auto path = text_at(cache, entry->path); path.starts_with('/')) paths.emplace_back(path);
    }
    return paths;
}

}  // namespace cgpu::client
