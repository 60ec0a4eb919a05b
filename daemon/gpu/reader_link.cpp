#include "daemon/gpu/reader_link.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "daemon/gpu/messages/answer.hpp"

namespace cgpu::gpu {

ReaderLink::~ReaderLink() { close(fd_); }

bool ReaderLink::send(const std::string& line) const {
    const std::string whole = line + '\n';
    // There is one question at a time, and the socket has room for thousands.
    return ::send(fd_, whole.data(), whole.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(whole.size());
}

ReaderLink::Received ReaderLink::receive() {
    std::array<char, 16384> part{};
    for (;;) {
        const ssize_t got = recv(fd_, part.data(), part.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return {};
        if (got <= 0) return {std::nullopt, true};
        const auto before = buffer_.size();
        buffer_.append(part.data(), static_cast<std::size_t>(got));
        const auto end = buffer_.find('\n', before);
        if (end == std::string::npos) {
            if (buffer_.size() > kLongestAnswer) return {std::nullopt, true};
            continue;
        }
        // Nothing may follow: a question has one answer, and the next one is not asked before.
        if (end + 1 != buffer_.size()) return {std::nullopt, true};
        buffer_.pop_back();
        return {std::exchange(buffer_, {}), false};
    }
}

}  // namespace cgpu::gpu
