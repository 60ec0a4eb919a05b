#include "daemon/app/memory/pool/unexplained.hpp"

#include <algorithm>

namespace cgpu::app {

void Unexplained::may_grow(std::uint64_t bytes) { growth_ += std::min(bytes, kAnything - growth_); }

void Unexplained::should_shrink(std::uint64_t bytes) { explained_ -= std::min(bytes, explained_); }

void Unexplained::seen(const Look& look, const Settings& settings) {
    const auto most = explained_ + std::min(growth_, kAnything - explained_);
    const auto new_bytes = look.bytes - std::min(bytes_, look.bytes);
    // Never less than before: while a charge is removed late, the figure is too small.
    auto explained = std::max(explained_, std::min({new_bytes, look.room, most}));
    // But the process may be blamed for more, as others of the instance need the room.
    if (bytes_ > 0) explained = std::min(explained, look.room);
    if (look.settled) {
        // What was announced and had no room still explains growth when another process has made room.
        const bool lacks_room = look.room < std::min(new_bytes, most);
        growth_ = lacks_room ? most - explained : 0;
        explained_ = explained;
    }
    explained = std::max(explained, look.always);
    const auto beyond = look.bytes - std::min(explained, look.bytes);
    if (beyond <= settings.gap) {
        since_ = 0;
        bytes_ = 0;
        return;
    }
    if (since_ == 0) since_ = look.now;
    if (look.now - since_ >= settings.patience) bytes_ = beyond;
}

}  // namespace cgpu::app
