#include "module/front/link/unreachable.hpp"

#include <atomic>

#include "module/front/base/waiting.hpp"
#include "module/front/link/connection.hpp"

namespace cgpu::front {

void tell_unreachable(std::string_view why) {
    static constinit std::atomic<bool> told{false};
    if (told.exchange(true)) return;
    // A connection for this alone: there may be no other.
    Descriptor socket;
    wire::Welcome welcome{};
    Packet packet;
    if (greet(wire::Role::observe, now_ns() + kSecond, socket, welcome, packet) != Greeted::answered) return;
    drop_files(packet);
    auto notice = wire::make_message<wire::Notice>();
    notice.event = wire::Event::driver_unreachable;
    wire::put_text(notice.detail, why);
    send_message(socket, notice);
    socket.close();
}

}  // namespace cgpu::front
