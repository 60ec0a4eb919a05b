#include "core/model/utf8.hpp"

#include <algorithm>

#include "core/model/letter.hpp"

namespace cgpu::model {
namespace {

bool is_set_apart(char32_t code) { return (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffeU) == 0xfffeU; }

}  // namespace

std::string valid_utf8(std::string_view text) {
    constexpr std::string_view kReplacement = "\xef\xbf\xbd";
    std::string valid;
    while (!text.empty()) {
        const Letter letter = first_letter(text);
        const bool good = letter.bytes > 0 && letter.code != 0 && !is_set_apart(letter.code);
        valid += good ? text.substr(0, letter.bytes) : kReplacement;
        text.remove_prefix(std::max<std::size_t>(letter.bytes, 1));
    }
    return valid;
}

}  // namespace cgpu::model
