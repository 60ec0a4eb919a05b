#include "daemon/link/driver/file_intake.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "daemon/link/base/apart.hpp"
#include "daemon/link/driver/handed_file.hpp"

namespace cgpu::link {
namespace {

/// Threads that wait for somebody's file, of users and of root: users can't take root's place.
constexpr int kMostIntakes = 12;
std::array<std::atomic<int>, 2> intakes_of{};
/// As long as a connection may take to say Hello.
constexpr int kPatienceMs = 5000;
/// SCM_MAX_FD: what doesn't fit would be closed in recvmsg(2), which is as well in that thread, but unseen.
constexpr std::size_t kMostSent = 253;

/// What the thread says to the loop, with the files.
struct Verdict {
    wire::HandOver message{};
    char why_not[120] = {};
};

/// Receives one packet with descriptors; its length.
ssize_t receive_with(int socket, std::span<std::byte> buffer, std::vector<Descriptor>& files) {
    iovec part{buffer.data(), buffer.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostSent * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    // Not by recvmsg: the thread sanitizer would note the descriptors that come as the process's own,
    // although this thread has a table of its own.
    const ssize_t got = syscall(SYS_recvmsg, socket, &message, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    if (got < 0) return got;
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr; each = CMSG_NXTHDR(&message, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
        const auto count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(each) + i * sizeof fd, sizeof fd);
            files.emplace_back(fd);
        }
    }
    return got;
}

std::optional<std::string> why_refused(const wire::HandOver& message, FileIntake::Of whose,
                                       std::vector<Descriptor>& files) {
    constexpr std::uint32_t all = (1U << wire::kLibraries) - 1;
    if ((message.libraries & ~all) != 0 || message.libraries == 0 ||
        static_cast<std::size_t>(std::popcount(message.libraries)) != files.size())
        return "the descriptors are not those that the message names";
    auto next = files.begin();
    for (std::size_t library = 0; library < wire::kLibraries; ++library) {
        if ((message.libraries >> library & 1U) == 0) continue;
        Descriptor& file = *next++;
        if (auto why = why_not_a_library(file.fd())) return why;
        if (whose == FileIntake::Of::root) continue;
        if (auto why = why_not_kept(file, message.paths[library])) return why;
    }
    return std::nullopt;
}

void send_with(int socket, const Verdict& verdict, std::span<const Descriptor> files) {
    Verdict copy = verdict;
    iovec part{&copy, sizeof copy};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(wire::kLibraries * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!files.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
        for (std::size_t i = 0; i < files.size(); ++i) {
            const int fd = files[i].fd();
            std::memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
        }
    }
    (void)sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void take_in(int connection, FileIntake::Of whose, int answer) {
    pollfd entry{connection, POLLIN, 0};
    if (poll(&entry, 1, kPatienceMs) != 1) return;
    std::array<std::byte, wire::kLargestMessage> buffer;
    std::vector<Descriptor> files;
    const ssize_t got = receive_with(connection, buffer, files);
    if (got <= 0) return;
    Verdict verdict;
    std::optional<std::string> why;
    const auto length = static_cast<std::size_t>(got);
    if (const auto message = wire::read_message<wire::HandOver>(
            length <= buffer.size() ? std::span<const std::byte>(buffer.data(), length)
                                    : std::span<const std::byte>())) {
        verdict.message = *message;
        why = why_refused(*message, whose, files);
    } else {
        why = "something else came than a HandOver";
    }
    wire::put_text(verdict.why_not, why.value_or(""));
    // The answer first: closing the files may take as long as whoever serves them wants.
    send_with(answer, verdict, why ? std::span<const Descriptor>() : files);
    const linger none{};
    for (const Descriptor& file : files)
        (void)setsockopt(file.fd(), SOL_SOCKET, SO_LINGER, &none, sizeof none);  // if it is a socket
}

}  // namespace

std::unique_ptr<FileIntake> FileIntake::start(int connection, Of whose, app::Loop& loop,
                                              std::function<void(Came)> done) {
    auto& intakes = intakes_of[static_cast<std::size_t>(whose)];
    std::array<int, 2> ends{};
    if (intakes >= kMostIntakes || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return nullptr;
    const Descriptor answer(ends[1]);
    std::unique_ptr<FileIntake> intake(new FileIntake(Descriptor(ends[0]), std::move(done)));
    ++intakes;
    const bool started = start_apart({connection, answer.fd()}, [whose, &intakes](const Apart& fds) {
        take_in(fds[0], whose, fds[1]);
        // The end of the thread closes the connection, without waiting for what else lies in its queue.
        keep_only(fds[0]);
        --intakes;
    });
    if (!started) {
        --intakes;
        return nullptr;
    }
    intake->watch_ =
        loop.watch(intake->from_.fd(), EPOLLIN, [raw = intake.get()](std::uint32_t) { raw->ready(); });
    return intake;
}

void FileIntake::ready() {
    watch_.reset();
    Verdict verdict;
    Came came;
    const auto got = receive_with(from_.fd(), std::as_writable_bytes(std::span(&verdict, 1)), came.files);
    came.message = verdict.message;
    came.why_not = got == sizeof verdict ? verdict.why_not : "no message came";
    done_(std::move(came));
}

}  // namespace cgpu::link
