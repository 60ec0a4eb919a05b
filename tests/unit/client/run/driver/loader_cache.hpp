#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cgpu::client {

/// The content of an ld.so.cache with these names and paths, as glibc 2.32 and later writes it.
inline std::string loader_cache(const std::vector<std::pair<std::string, std::string>>& libraries) {
    const auto put = [](std::string& to, std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) to += static_cast<char>(i < 8 ? value >> (8 * i) : 0);
    };
    std::string entries;
    std::string texts;
    const std::size_t begin = 48 + libraries.size() * 24;
    for (const auto& [name, path] : libraries) {
        put(entries, 0x0303, 4);  // a library of libc6, for x86-64
        put(entries, begin + texts.size(), 4);
        put(entries, begin + texts.size() + name.size() + 1, 4);
        put(entries, 0, 12);
        texts.append(name).append(1, '\0').append(path).append(1, '\0');
    }
    std::string header = "glibc-ld.so.cache1.1";
    put(header, libraries.size(), 4);
    put(header, texts.size(), 4);
    header.resize(48);
    return header + entries + texts;
}

}  // namespace cgpu::client
