#include "bundle/sha256.hpp"

#include <gcrypt.h>

#include <array>
#include <cstdint>

namespace cgpu::bundle {
namespace {

constexpr std::size_t kLength = 32;  // bytes

/// libgcrypt must be initialised once per process, by its first user; libsystemd, which uses it too, does the
/// same.
void set_up() {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0) return;
    gcry_check_version(nullptr);
    gcry_control(GCRYCTL_DISABLE_SECMEM);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED);
}

}  // namespace

std::string sha256(std::span<const std::byte> bytes) {
    [[maybe_unused]] static const bool once = (set_up(), true);
    std::array<std::uint8_t, kLength> digest{};
    gcry_md_hash_buffer(GCRY_MD_SHA256, digest.data(), bytes.data(), bytes.size());
    constexpr const char* kDigits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : digest) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

}  // namespace cgpu::bundle
