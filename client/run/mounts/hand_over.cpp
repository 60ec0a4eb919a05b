#include "client/run/mounts/hand_over.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "client/run/files/root.hpp"

namespace cgpu::client {
namespace {

using Clock = std::chrono::steady_clock;
/// A daemon that has just been restarted may need a few seconds.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kBetweenTries{20};

tl::unexpected<ClientError> failed(const std::string& why, const char* remedy) {
    return fail(ClientError::Kind::failed,
                "handing the driver's libraries to cgpud: " + why + ". Try: " + remedy);
}

/// By the folder's descriptor, because with a long id the whole path doesn't fit into sun_path.
Descriptor connect_to(const Descriptor& folder) {
    Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = by_descriptor(folder) + "/socket";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (!socket || connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return Descriptor();
    return socket;
}

template <class M>
bool send_message(const Descriptor& socket, const M& message, std::span<const int> fds = {}) {
    M copy = message;
    iovec part{&copy, sizeof copy};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(wire::kLibraries * sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (!fds.empty()) {
        header.msg_control = control.data();
        header.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
    }
    return sendmsg(socket.fd(), &header, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof copy);
}

/// The packet's length; 0: the daemon closed the connection or didn't answer. A daemon that refuses the Hello
/// closes the connection with the files unread: the kernel then reports ECONNRESET once, before the sentence.
std::size_t receive(const Descriptor& socket, std::span<std::byte> buffer, Clock::time_point until) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd entry{socket.fd(), POLLIN, 0};
    if (left <= 0 || poll(&entry, 1, static_cast<int>(left) + 1) <= 0) return 0;
    ssize_t got = recv(socket.fd(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == ECONNRESET) got = recv(socket.fd(), buffer.data(), buffer.size(), 0);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

wire::HandOver message_of(const std::vector<DriverFile>& files) {
    auto message = wire::make_message<wire::HandOver>();
    for (const DriverFile& each : files) {
        message.libraries |= wire::bit_of(each.library);
        auto& path = message.paths[static_cast<std::size_t>(each.library)];
        if (each.path.size() < sizeof path) wire::put_text(path, each.path);
    }
    return message;
}

/// False: the connection can't be used, such as one to a daemon that is just ending.
Result<bool> try_once(const Descriptor& folder, const std::vector<DriverFile>& files,
                      Clock::time_point until) {
    const Descriptor socket = connect_to(folder);
    if (!socket) return false;
    auto hello = wire::make_message<wire::Hello>();
    hello.oldest_version = wire::kOldestVersion;
    hello.newest_version = wire::kVersion;
    hello.role = wire::Role::hand_over;
    std::vector<int> fds;
    fds.reserve(files.size());
    for (const DriverFile& each : files) fds.push_back(each.file.fd());
    if (!send_message(socket, hello)) return false;
    std::array<std::byte, wire::kLargestMessage> buffer{};
    (void)send_message(socket, message_of(files), fds);  // it fails if the Hello is already refused
    const std::span<const std::byte> packet(buffer.data(), receive(socket, buffer, until));
    if (wire::read_message<wire::DriverFiles>(packet)) return true;
    if (const auto refused = wire::read_message<wire::Refused>(packet))
        return fail(ClientError::Kind::failed, std::string("cgpud: ") + refused->text);
    return false;
}

}  // namespace

Result<void> hand_over(const std::string& link_folder, const std::vector<DriverFile>& files) {
    const Descriptor folder(open(link_folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return failed(link_folder + ": " + std::strerror(errno), "systemctl status cgpud");
    const auto until = Clock::now() + kPatience;
    while (Clock::now() < until) {
        const auto taken = try_once(folder, files, until);
        if (!taken) return tl::unexpected(taken.error());
        if (*taken) return {};
        std::this_thread::sleep_for(kBetweenTries);
    }
    return failed("it doesn't answer", "systemctl status cgpud");
}

}  // namespace cgpu::client
