#include "core/model/quote.hpp"

namespace cgpu::model {
namespace {

constexpr std::size_t kMaxQuoted = 64;

void append_escaped(std::string& out, char c) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
    } else if (c == '\n') {
        out += "\\n";
    } else if (c == '\t') {
        out += "\\t";
    } else if (byte < 0x20 || byte > 0x7e) {
        out += "\\x";
        out += kHex[byte >> 4];
        out += kHex[byte & 0xf];
    } else {
        out += c;
    }
}

}  // namespace

std::string quote(std::string_view text) {
    std::string out = "\"";
    for (const char c : text.substr(0, kMaxQuoted)) append_escaped(out, c);
    out += text.size() > kMaxQuoted ? "...\"" : "\"";
    return out;
}

}  // namespace cgpu::model
