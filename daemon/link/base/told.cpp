#include "daemon/link/base/told.hpp"

#include "daemon/app/ports/log.hpp"

namespace cgpu::link {

bool UserLines::take(std::uint32_t user) {
    if (user == 0) return true;
    const auto now = loop_.now();
    std::erase_if(windows_, [now](const auto& each) {
        const auto& [whose, window] = each;
        if (now - window.began <= kWindow) return false;
        if (window.left_out > 0)
            log::warn("instances of user id {}: {} more such lines were left out", whose, window.left_out);
        return true;
    });
    auto& window = windows_.try_emplace(user, Window{.began = now}).first->second;
    if (window.lines == kMost) return false;
    ++window.lines;
    return true;
}

void UserLines::left_out(std::uint32_t user, std::uint64_t lines) {
    if (const auto found = windows_.find(user); found != windows_.end()) found->second.left_out += lines;
}

}  // namespace cgpu::link
