#include "tests/sim/device/file/journal.hpp"

#include <cstring>
#include <vector>

namespace simgpu {

namespace {

struct Header {
    std::uint64_t offset;
    std::uint64_t bytes;
};

/// Entries begin at multiples of 16.
std::uint64_t round_up_to_header(std::uint64_t bytes) {
    return (bytes + sizeof(Header) - 1) / sizeof(Header) * sizeof(Header);
}

}  // namespace

void Journal::save(const void* at, std::uint64_t bytes) {
    JournalArea& area = layout_.journal;
    const std::uint64_t used = area.used.load(std::memory_order_relaxed);
    const Header header{
        static_cast<std::uint64_t>(static_cast<const char*>(at) - reinterpret_cast<const char*>(&layout_)),
        bytes};
    std::memcpy(area.data + used, &header, sizeof header);
    std::memcpy(area.data + used + sizeof header, at, bytes);
    area.used.store(used + round_up_to_header(bytes) + sizeof header, std::memory_order_release);
    // The change must not be seen before the entry that undoes it.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Journal::save_timeline() {
    const auto* base = reinterpret_cast<const char*>(&layout_.timeline);
    for_used_pieces(layout_.timeline,
                    [&](std::uint64_t offset, std::uint64_t bytes) { save(base + offset, bytes); });
}

void Journal::commit() { layout_.journal.used.store(0, std::memory_order_release); }

bool Journal::roll_back() {
    JournalArea& area = layout_.journal;
    const std::uint64_t used = area.used.load(std::memory_order_acquire);
    if (used == 0) return false;
    std::vector<std::uint64_t> entries;
    for (std::uint64_t at = 0; at < used;) {
        Header header;
        std::memcpy(&header, area.data + at, sizeof header);
        entries.push_back(at);
        at += sizeof header + round_up_to_header(header.bytes);
    }
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        Header header;
        std::memcpy(&header, area.data + *entry, sizeof header);
        std::memcpy(reinterpret_cast<char*>(&layout_) + header.offset, area.data + *entry + sizeof header,
                    header.bytes);
    }
    commit();
    return true;
}

}  // namespace simgpu
