#include "core/model/quote.hpp"

#include <algorithm>

namespace cgpu::model {
namespace {

constexpr std::size_t kMaxQuoted = 64;

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

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

bool is_plain_word(std::string_view text) {
    return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), is_plain);
}

std::string shell_word(std::string_view text) {
    if (is_plain_word(text)) return std::string(text);
    constexpr std::string_view kHex = "0123456789abcdef";
    const bool visible = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    std::string word = visible ? "'" : "$'";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (visible) {
            word += c == '\'' ? "'\\''" : std::string(1, c);
        } else if (byte < 0x20 || byte > 0x7e || c == '\'' || c == '\\') {
            word += "\\x";
            word += kHex[byte >> 4];
            word += kHex[byte & 0xf];
        } else {
            word += c;
        }
    }
    return word + "'";
}

}  // namespace cgpu::model
