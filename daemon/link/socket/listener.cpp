#include "daemon/link/socket/listener.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "daemon/app/ports/log.hpp"
#include "daemon/link/base/apart.hpp"

namespace cgpu::link {
namespace {

constexpr int kBacklog = 256;
constexpr int kAcceptsPerTurn = 8;
constexpr app::Nanos kPause = 100'000'000;

/// A listening socket at <folder>/socket, or none with errno.
Descriptor listen_in(int folder) {
    if (unlinkat(folder, "socket", 0) != 0 && errno != ENOENT) return Descriptor();
    Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made) return Descriptor();
    // By the folder's descriptor, because with a long id the whole path doesn't fit into sun_path.
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = "/proc/self/fd/" + std::to_string(folder) + "/socket";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (bind(made.fd(), generic, sizeof address) == 0 && fchmodat(folder, "socket", 0666, 0) == 0 &&
        listen(made.fd(), kBacklog) == 0)
        return made;
    const int error = errno;
    made = Descriptor();
    errno = error;
    return Descriptor();
}

}  // namespace

app::Result<std::unique_ptr<Listener>> Listener::open(const std::filesystem::path& folder, KeptSocket kept) {
    const auto refusal = [&](const std::string& why) {
        return model::refuse(model::Refusal::Reason::storage, "link folder " + folder.string(), why,
                             "make its parent a folder that cgpud may write to");
    };
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return refusal(error.message());
    const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory || fchmod(directory.fd(), 0755) != 0)
        return refusal(std::generic_category().message(errno));
    Descriptor socket = kept.take(directory.fd());
    if (!socket) {
        socket = listen_in(directory.fd());
        if (!socket) return refusal(std::generic_category().message(errno));
        kept.bound(directory.fd());
    }
    return std::unique_ptr<Listener>(new Listener(std::move(socket), std::move(kept)));
}

Listener::~Listener() {
    watch_.reset();
    close_apart(std::move(socket_));
}

void Listener::start(app::Loop& loop, std::function<void(int)> accepted) {
    loop_ = &loop;
    accepted_ = std::move(accepted);
    watch_ = loop.watch(socket_.fd(), EPOLLIN, [this](std::uint32_t) { accept_some(); });
    kept_.keep(socket_.fd());
}

void Listener::accept_some() {
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
        const int fd = accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            accepted_(fd);
            continue;
        }
        if (errno == ECONNABORTED || errno == EINTR) continue;
        if (errno == EAGAIN) return;
        // Out of descriptors or memory: the socket stays readable, so the only way not to spin is to stop
        // watching it for a while.
        log::error("link: can't accept a connection: {}. Try: set a larger LimitNOFILE= for cgpud.",
                   std::generic_category().message(errno));
        watch_.reset();
        pause_ = loop_->at(loop_->now() + kPause, [this] {
            watch_ = loop_->watch(socket_.fd(), EPOLLIN, [this](std::uint32_t) { accept_some(); });
        });
        return;
    }
}

}  // namespace cgpu::link
