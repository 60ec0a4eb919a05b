#include "module/front/link/connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "module/front/base/paths.hpp"
#include "module/front/base/waiting.hpp"

namespace cgpu::front {
namespace {

constexpr std::uint32_t kFrontVersion = CGPU_FRONT_VERSION;
constexpr std::int64_t kRetryEvery = 20 * kMillisecond;

constinit Mutex receiving;

bool link_folder_exists() {
    constexpr std::string_view path = kSocketPath;
    std::array<char, sizeof(sockaddr_un::sun_path)> folder{};
    const auto length = path.rfind('/');
    static_assert(path.size() < folder.size());
    std::copy_n(path.begin(), length, folder.begin());
    return access(folder.data(), F_OK) == 0;
}

wire::Hello hello(wire::Role role) {
    auto message = wire::make_message<wire::Hello>();
    message.oldest_version = wire::kOldestVersion;
    message.newest_version = wire::kVersion;
    message.role = role;
    message.front_version = kFrontVersion;
    return message;
}

/// True if there is data to read, or the other end is closed.
bool wait_readable(const Descriptor& socket, std::int64_t until_ns) {
    pollfd entry{socket.usable(), POLLIN, 0};
    return entry.fd >= 0 && now_ns() < until_ns && wait_for_any({&entry, 1}, until_ns) > 0;
}

}  // namespace

void drop_files(Packet& packet) {
    for (int& file : packet.files) {
        if (file >= 0) close(file);
        file = -1;
    }
}

Opened open_link(wire::Role role, Descriptor& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, kSocketPath, std::string_view(kSocketPath).size() + 1);
    socket = Descriptor::adopt(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int fd = socket.usable();
    if (fd < 0) return Opened::later;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const bool absent = errno == ENOENT && !link_folder_exists();
        socket.close();
        return absent ? Opened::absent : Opened::later;
    }
    if (send_message(socket, hello(role)) == Sent::done) return Opened::done;
    socket.close();
    return Opened::later;
}

Sent send_packet(const Descriptor& socket, std::span<const std::byte> packet) {
    const int fd = socket.usable();
    if (fd < 0) return Sent::lost;
    const auto sent = send(fd, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return Sent::done;
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? Sent::full : Sent::lost;
}

void Receiving::keep_out() { receiving.lock(); }
void Receiving::let_in() { receiving.unlock(); }
void Receiving::reset_in_child() { receiving.reset_in_child(); }

Received receive_packet(const Descriptor& socket, Packet& packet) {
    const Locked lock(receiving);
    packet.size = 0;
    packet.files.fill(-1);
    const int fd = socket.usable();
    if (fd < 0) return Received::lost;

    iovec data{packet.bytes.data(), packet.bytes.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kPages)> control{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const auto got = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    // The kernel reports ECONNRESET once if the daemon has closed the link with packets unread; what the
    // daemon said before, such as why it refuses, can still be read.
    if (got < 0)
        return errno == EAGAIN || errno == EINTR || errno == ECONNRESET ? Received::nothing : Received::lost;
    if (got == 0) return Received::lost;
    packet.size = static_cast<std::size_t>(got);
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const auto count = std::min((part->cmsg_len - CMSG_LEN(0)) / sizeof(int), kPages);
        std::memcpy(packet.files.data(), CMSG_DATA(part), count * sizeof(int));
    }
    return Received::packet;
}

Greeted ask_hello(wire::Role role, std::int64_t until_ns, Descriptor& socket, Packet& packet) {
    while (now_ns() < until_ns) {
        const Opened opened = open_link(role, socket);
        if (opened == Opened::absent) return Greeted::refused;
        if (opened == Opened::later) {
            sleep_until(std::min(until_ns, now_ns() + kRetryEvery));
            continue;
        }
        while (wait_readable(socket, until_ns)) {
            const Received received = receive_packet(socket, packet);
            if (received == Received::nothing) continue;
            if (received == Received::lost) break;  // a daemon that restarts: try again
            if (!wire::read_message<wire::Refused>(packet.data())) return Greeted::answered;
            drop_files(packet);
            socket.close();
            return Greeted::refused;
        }
        socket.close();
        sleep_until(std::min(until_ns, now_ns() + kRetryEvery));
    }
    return Greeted::silent;
}

Greeted greet(wire::Role role, std::int64_t until_ns, Descriptor& socket, wire::Welcome& welcome,
              Packet& packet) {
    const Greeted greeted = ask_hello(role, until_ns, socket, packet);
    if (greeted != Greeted::answered) return greeted;
    if (const auto message = wire::read_message<wire::Welcome>(packet.data())) {
        welcome = *message;
        return Greeted::answered;
    }
    drop_files(packet);
    socket.close();
    return Greeted::refused;
}

}  // namespace cgpu::front
