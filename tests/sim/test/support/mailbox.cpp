#include "tests/sim/test/support/mailbox.hpp"

#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace simgpu::test {

Mailbox::Mailbox() {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends_) != 0) throw std::runtime_error("socketpair");
}

Mailbox::~Mailbox() { close(); }

void Mailbox::close() {
    for (int& end : ends_) {
        if (end >= 0) ::close(end);
        end = -1;
    }
}

void Mailbox::send_descriptor(int descriptor) const {
    if (!send_with(descriptor, 0)) _exit(91);
}

bool Mailbox::send_with(int descriptor, int flags) const {
    char word = 'd';
    iovec part{&word, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(ends_[0], &message, flags) == 1;
}

int Mailbox::receive_descriptor() const { return receive_with(0); }

int Mailbox::receive_descriptor_if_any() const { return receive_with(MSG_DONTWAIT); }

int Mailbox::receive_with(int flags) const {
    char word = 0;
    iovec part{&word, 1};
    int descriptor = -1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(ends_[1], &message, flags) != 1) return -1;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header) std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}

void Mailbox::send_bytes(const void* bytes, std::size_t count) const {
    if (::send(ends_[0], bytes, count, 0) != static_cast<ssize_t>(count)) _exit(91);
}

bool Mailbox::offer_bytes(const void* bytes, std::size_t count) const {
    return ::send(ends_[0], bytes, count, MSG_DONTWAIT) == static_cast<ssize_t>(count);
}

bool Mailbox::take_bytes(void* bytes, std::size_t count) const {
    return recv(ends_[1], bytes, count, MSG_DONTWAIT) == static_cast<ssize_t>(count);
}

void Mailbox::receive_bytes(void* bytes, std::size_t count) const {
    if (recv(ends_[1], bytes, count, 0) != static_cast<ssize_t>(count)) _exit(92);
}

}  // namespace simgpu::test
