#include "bundle/sha256.hpp"

#include <sha2.h>

#include <array>
#include <cstdint>

namespace cgpu::bundle {

std::string sha256(std::span<const std::byte> bytes) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), text.data());
    return text.data();
}

}  // namespace cgpu::bundle
