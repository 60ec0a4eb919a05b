#include "files/mount_line.hpp"

#include <charconv>

namespace cgpu::files {

std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        const char* const end = text.data() + i + 4;
        if (text[i] == '\\' && i + 4 <= text.size() &&
            std::from_chars(text.data() + i + 1, end, value, 8).ptr == end) {
            plain += static_cast<char>(value);
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

std::string_view take_until(std::string_view& text, char separator) {
    const auto end = text.find(separator);
    const auto part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return part;
}

std::optional<MountLine> take_mount(std::string_view& mountinfo) {
    while (!mountinfo.empty()) {
        auto line = take_until(mountinfo, '\n');
        MountLine mount;
        for (auto* field :
             {&mount.id, &mount.parent, &mount.device, &mount.root, &mount.point, &mount.options})
            *field = take_until(line, ' ');
        mount.rest = line;
        if (!mount.root.empty()) return mount;
    }
    return std::nullopt;
}

}  // namespace cgpu::files
