#include "daemon/system/trace_sockets.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace cgpu::system {
namespace {

class TraceSocket final : public app::TraceStream {
  public:
    explicit TraceSocket(int fd) : fd_(fd) {}
    ~TraceSocket() override { close(fd_); }
    TraceSocket(const TraceSocket&) = delete;
    TraceSocket& operator=(const TraceSocket&) = delete;

    std::optional<std::size_t> send(std::span<const std::byte> bytes) override {
        const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0) return static_cast<std::size_t>(sent);
        // ENOBUFS: as EAGAIN, of the kernel's memory instead of the socket's.
        const bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOBUFS;
        return full ? std::optional<std::size_t>(0) : std::nullopt;
    }

    Reader reader() override {
        // A reader has nothing to say: what it sends is thrown away, a bounded part of it each time.
        std::array<char, 256> unwanted{};
        const auto got = recv(fd_, unwanted.data(), unwanted.size(), MSG_DONTWAIT);
        const bool waits = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
        return got > 0 || waits ? Reader::reads : Reader::is_done;
    }

  private:
    int fd_;
};

}  // namespace

app::Result<app::OpenedTrace> TraceSockets::open() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return model::refuse(model::Refusal::Reason::storage, "a trace",
                             "cgpud gets no socket: " + std::generic_category().message(errno),
                             "end other traces, or see LimitNOFILE in systemd.exec(5)");
    return app::OpenedTrace{std::make_unique<TraceSocket>(ends[0]), ends[1]};
}

}  // namespace cgpu::system
