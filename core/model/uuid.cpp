#include "core/model/uuid.hpp"

namespace cgpu::model {
namespace {

constexpr std::string_view kPrefix = "GPU-";
constexpr std::string_view kPattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

tl::expected<Uuid, std::string> Uuid::parse(std::string_view text) {
    if (text.starts_with("MIG-"))
        return tl::unexpected(
            std::string("MIG instances are already a fixed part of a GPU and are not shared further"));
    if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + kPattern.size())
        return tl::unexpected(std::string("it is not of the form GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"));
    Raw raw{};
    std::size_t digits = 0;
    for (std::size_t i = 0; i < kPattern.size(); ++i) {
        const char c = text[kPrefix.size() + i];
        if (kPattern[i] == '-') {
            if (c != '-')
                return tl::unexpected(std::string("its dashes are not where a GPU's UUID has them"));
            continue;
        }
        const int value = hex_value(c);
        if (value < 0) return tl::unexpected(std::string("it has a character that is not a hex digit"));
        raw[digits / 2] = static_cast<std::uint8_t>(raw[digits / 2] * 16 + value);
        ++digits;
    }
    return Uuid(raw);
}

std::string Uuid::to_string() const {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out(kPrefix);
    std::size_t digits = 0;
    for (const char c : kPattern) {
        if (c == '-') {
            out += '-';
            continue;
        }
        const std::uint8_t byte = raw_[digits / 2];
        out += kHex[digits % 2 == 0 ? byte >> 4 : byte & 0xf];
        ++digits;
    }
    return out;
}

}  // namespace cgpu::model
