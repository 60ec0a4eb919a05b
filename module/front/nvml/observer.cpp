#include "module/front/nvml/observer.hpp"

#include <poll.h>

#include <cstring>

#include "module/front/base/waiting.hpp"

namespace cgpu::front {

bool Observer::connect(std::int64_t until_ns) {
    if (socket_.usable() >= 0) return true;
    wire::Welcome welcome{};
    Packet packet;
    if (greet(wire::Role::observe, until_ns, socket_, welcome, packet) != Greeted::answered) return false;
    const bool mapped = pages_.map({packet.files[0], -1, -1});
    drop_files(packet);
    if (!mapped) socket_.close();
    return mapped;
}

std::optional<std::uint32_t> Observer::find(const std::array<std::uint8_t, 16>& uuid) const {
    for (std::uint32_t gpu = 0; gpu < orders().gpu_count; ++gpu)
        if (std::memcmp(orders().gpus[gpu].uuid, uuid.data(), uuid.size()) == 0) return gpu;
    return std::nullopt;
}

bool Observer::next_packet(Packet& packet, std::int64_t until_ns) {
    while (now_ns() < until_ns) {
        pollfd entry{socket_.usable(), POLLIN, 0};
        if (wait_for_any({&entry, 1}, until_ns) <= 0) continue;
        const Received received = receive_packet(socket_, packet);
        drop_files(packet);
        if (received != Received::nothing) return received == Received::packet;
    }
    return false;
}

}  // namespace cgpu::front
