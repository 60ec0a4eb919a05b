#include "tests/programs/support/announce.hpp"

#include <sys/socket.h>

#include "core/wire/message.hpp"

namespace programs {
namespace {

/// The module's connection is the only socket of its kind in these programs.
int connection() {
    constexpr int kFirst = 3;
    constexpr int kLast = 1023;
    for (int fd = kFirst; fd <= kLast; ++fd) {
        int type = 0;
        socklen_t length = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_SEQPACKET) return fd;
    }
    return -1;
}

}  // namespace

void announce() {
    using cgpu::wire::Topic;
    static bool moved = false;
    moved = !moved;
    auto message = cgpu::wire::make_message<cgpu::wire::Ask>();
    message.topic = moved ? Topic::moved : Topic::context_gone;
    if (const int fd = connection(); fd >= 0) send(fd, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace programs
