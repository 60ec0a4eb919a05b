#include "client/cgpuctl/report/xml_text.hpp"

#include <cstdint>

namespace cgpu::cgpuctl::report {
namespace {

struct Letter {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  ///< 0: not UTF-8
};

Letter first_letter(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) return {lead, 1};
    const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || bytes > text.size()) return {};
    std::uint32_t code = lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0U) != 0x80U) return {};
        code = (code << 6U) | (next & 0x3FU);
    }
    // Longer than needed, half of a pair, or beyond the last character.
    const bool wrong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000) ||
                       (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF;
    return wrong ? Letter{} : Letter{code, bytes};
}

bool is_allowed(std::uint32_t code) {
    return code >= 0x20 && code != 0x7F && !(code >= 0x80 && code < 0xA0) && code != 0xFFFE && code != 0xFFFF;
}

}  // namespace

std::string xml_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto letter = first_letter(text);
        const auto bytes = letter.bytes == 0 ? 1 : letter.bytes;
        switch (letter.bytes == 0 || !is_allowed(letter.code) ? std::uint32_t{'?'} : letter.code) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '?':
                out += '?';
                break;
            default:
                out += text.substr(0, bytes);
        }
        text.remove_prefix(bytes);
    }
    return out;
}

}  // namespace cgpu::cgpuctl::report
