#include "tests/peer/front.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace cgpu::link::test {
namespace {

void* map(int fd, int protection) {
    void* mapped = mmap(nullptr, wire::kPageBytes, protection, MAP_SHARED, fd, 0);
    return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

bool Front::connect(const std::string& path) {
    disconnect();
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void Front::disconnect() {
    if (fd >= 0) close(fd);
    for (const int page : page_fds) close(page);
    page_fds.clear();
    fd = -1;
}

bool Front::send_bytes(const void* bytes, std::size_t size) {
    return ::send(fd, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

bool Front::send_files(const void* bytes, std::size_t size, std::vector<int> files) {
    iovec part{const_cast<void*>(bytes), size};
    alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const auto length = files.size() * sizeof(int);
    if (!files.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(length);
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(length);
        std::memcpy(CMSG_DATA(rights), files.data(), length);
    }
    const bool sent = sendmsg(fd, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
    for (const int file : files) close(file);
    return sent;
}

std::vector<std::byte> Front::receive() {
    std::vector<std::byte> buffer(wire::kLargestMessage);
    iovec part{buffer.data(), buffer.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    auto got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    // Reported once, before what the daemon said, if it closed the connection with packets unread.
    if (got < 0 && errno == ECONNRESET) got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    if (got <= 0) return {};
    buffer.resize(static_cast<std::size_t>(got));
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
        page_fds.resize((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(page_fds.data(), CMSG_DATA(c), page_fds.size() * sizeof(int));
    }
    if (const auto recall = wire::read_message<wire::Recall>(buffer); recall && answers_recalls)
        give(std::min(lease - charged, recall->bytes));
    if (const auto order = wire::read_message<wire::Switch>(buffer)) {
        switched_to = order->engine;
        if (switch_result == wire::SwitchResult::done) runs = order->version;
        auto answer = wire::make_message<wire::Switched>(order->header.request);
        answer.result = switch_result;
        answer.version = runs;
        if (switch_result != wire::SwitchResult::done) wire::put_text(answer.detail, "no \n luck");
        send(answer);
    }
    return buffer;
}

bool Front::tell_engine() {
    auto message = wire::make_message<wire::Switched>();
    message.result = wire::SwitchResult::running;
    message.version = runs;
    return send(message);
}

std::optional<wire::Why> Front::hello(wire::Role role, std::uint32_t oldest, std::uint32_t newest) {
    auto message = wire::make_message<wire::Hello>();
    message.oldest_version = oldest;
    message.newest_version = newest;
    message.role = role;
    if (!send(message)) return std::nullopt;
    const auto packet = receive();
    if (const auto refused = wire::read_message<wire::Refused>(packet)) return refused->why;
    welcome = wire::read_message<wire::Welcome>(packet);
    if (!welcome) return std::nullopt;
    if (!page_fds.empty()) orders = static_cast<const wire::Orders*>(map(page_fds[0], PROT_READ));
    if (page_fds.size() == 3) {
        reports = static_cast<wire::Reports*>(map(page_fds[1], PROT_READ | PROT_WRITE));
        doorbell = static_cast<wire::Doorbell*>(map(page_fds[2], PROT_READ | PROT_WRITE));
        charge(charged);
    }
    return wire::Why::none;
}

std::optional<wire::Answer> Front::ask(wire::Topic topic, std::uint64_t bytes, std::uint32_t gpu) {
    auto message = wire::make_message<wire::Ask>(++request_);
    message.topic = topic;
    message.gpu = gpu;
    message.bytes = bytes;
    if (!send(message)) return std::nullopt;
    for (;;) {
        const auto packet = receive();
        if (packet.empty()) return std::nullopt;
        const auto answer = wire::read_message<wire::Answer>(packet);
        if (!answer || answer->header.request != request_) continue;
        if (topic == wire::Topic::lease) lease += answer->granted_bytes;
        return answer;
    }
}

std::vector<wire::ProcessUse> Front::processes(std::uint32_t gpu) {
    std::vector<wire::ProcessUse> all;
    auto message = wire::make_message<wire::AskProcesses>();
    message.gpu = gpu;
    for (bool more = true; more;) {
        message.header.request = ++request_;
        message.after_pid = all.empty() ? 0 : all.back().pid;
        if (!send(message)) return {};
        const auto page = wire::read_message<wire::Processes>(receive());
        if (!page || page->header.request != request_ || page->why != wire::Why::none) return {};
        all.insert(all.end(), page->uses, page->uses + page->count);
        more = page->more != 0;
    }
    return all;
}

void Front::give(std::uint64_t bytes) {
    auto message = wire::make_message<wire::Give>();
    message.bytes = bytes / wire::kGranule * wire::kGranule;
    lease -= std::min(lease, message.bytes);
    send(message);
}

void Front::charge(std::uint64_t bytes) {
    charged = bytes;
    reports->gpus[0].charged_bytes.store(bytes);
    reports->gpus[0].updated_ns.store(1);
}

}  // namespace cgpu::link::test
