#include "client/cgpuctl/report/xml_text.hpp"

#include <cstddef>

#include "core/model/letter.hpp"

namespace cgpu::cgpuctl::report {

std::string xml_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto letter = model::first_letter(text);
        const auto bytes = letter.bytes == 0 ? 1 : letter.bytes;
        switch (letter.bytes == 0 || model::is_hidden(letter.code) ? U'?' : letter.code) {
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
