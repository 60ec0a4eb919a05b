#include "daemon/link/base/apart.hpp"

#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>

#ifdef __SANITIZE_THREAD__
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace cgpu::link {
namespace {

/// The thread sanitizer takes descriptors of one number in two tables for one, and so a use here and a close
/// there for a race.
void call_with_own_table(const std::function<void()>& body) {
#ifdef __SANITIZE_THREAD__
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
    body();
#ifdef __SANITIZE_THREAD__
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

struct Start {
    std::function<void(const Apart&)> body;
    std::size_t fds = 0;
    std::binary_semaphore has_own{0};  ///< the thread has its table, or there is none
    std::binary_semaphore may_go{0};   ///< nobody else closes what is in it
    std::binary_semaphore tried{0};
    bool has_table = false;
};

/// Starts the threads. Its own table has few descriptors, so that a copy is made at once, however many the
/// process has: a node with hundreds of instances has thousands.
class Starter {
  public:
    /// It is made at the first use, and never ends. Null: it can't be made now.
    static Starter* the() {
        static std::mutex mutex;
        static Starter* starter = nullptr;
        const std::scoped_lock lock(mutex);
        if (starter == nullptr) starter = make();
        return starter;
    }

    bool start(const std::vector<int>& fds, const std::shared_ptr<Start>& start) {
        auto* const handed = new std::shared_ptr<Start>(start);
        if (!send(fds, handed)) {
            delete handed;
            return false;
        }
        start->tried.acquire();
        return start->has_table;
    }

  private:
    using Handed = std::shared_ptr<Start>*;

    explicit Starter(int channel) : channel_(channel) {}

    static Starter* make() {
        std::array<int, 2> ends{};
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return nullptr;
        const auto closing = std::make_shared<Start>();
        closing->body = [end = ends[1]](const Apart&) {
            keep_only(end);
            serve(end);
        };
        const bool made = start_thread(closing, {});
        ::close(ends[1]);
        if (made) {
            closing->may_go.release();
            return new Starter(ends[0]);
        }
        ::close(ends[0]);
        return nullptr;
    }

    [[nodiscard]] bool send(const std::vector<int>& fds, Handed handed) const {
        iovec part{&handed, sizeof(std::uintptr_t)};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostApart * sizeof(int))> control{};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
        std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
        return sendmsg(channel_, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(std::uintptr_t));
    }

    /// The thread of the starter.
    static void serve(int channel) {
        for (;;) {
            Handed handed = nullptr;
            Apart fds;
            if (!receive(channel, handed, fds)) {
                if (errno == EINTR) continue;
                return;  // never: the other end isn't closed
            }
            const std::unique_ptr<std::shared_ptr<Start>> owned(handed);
            const auto& start = *owned;
            // Fewer come if this table may have no more.
            start->has_table = fds.size() == start->fds && start_thread(start, fds, channel);
            // Copies of all of them are in the thread's table, or in the caller's: no close is the last one.
            for (const int fd : fds) ::close(fd);
            start->may_go.release();
            start->tried.release();
        }
    }

    /// Not by recvmsg: the thread sanitizer would note the descriptors as the process's own.
    static bool receive(int channel, Handed& handed, Apart& fds) {
        iovec part{&handed, sizeof(std::uintptr_t)};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostApart * sizeof(int))> control{};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        if (syscall(SYS_recvmsg, channel, &message, MSG_CMSG_CLOEXEC) !=
            static_cast<long>(sizeof(std::uintptr_t)))
            return false;
        const cmsghdr* const header = CMSG_FIRSTHDR(&message);
        if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return true;
        fds.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(fds.data(), CMSG_DATA(header), fds.size() * sizeof(int));
        return true;
    }

    /// True once the thread has its own copy of the caller's table, without `without`. It waits for may_go.
    static bool start_thread(const std::shared_ptr<Start>& start, const Apart& fds, int without = -1) {
        const auto copied = std::make_shared<std::atomic<bool>>(false);
        try {
            std::thread([start, fds, without, copied] {
                const bool own = unshare(CLONE_FILES) == 0;
                copied->store(own);
                start->has_own.release();
                if (!own) return;
                call_with_own_table([&] {
                    if (without >= 0) ::syscall(SYS_close, without);
                    start->may_go.acquire();
                    start->body(fds);
                });
            }).detach();
        } catch (const std::system_error&) {
            return false;
        }
        start->has_own.acquire();
        return copied->load();
    }

    int channel_;
};

}  // namespace

bool start_apart(const std::vector<int>& fds, std::function<void(const Apart&)> body) {
    auto* const starter = Starter::the();
    if (starter == nullptr || fds.empty() || fds.size() > kMostApart) return false;
    const auto start = std::make_shared<Start>();
    start->body = std::move(body);
    start->fds = fds.size();
    return starter->start(fds, start);
}

void keep_only(int fd) {
    constexpr unsigned kFirst = STDERR_FILENO + 1;
    const auto number = static_cast<unsigned>(fd);
    if (number > kFirst) syscall(__NR_close_range, kFirst, number - 1, 0U);
    syscall(__NR_close_range, std::max(number + 1, kFirst), ~0U, 0U);
}

void close_apart(Descriptor descriptor) {
    if (!descriptor) return;
    // The thread is the one that closes the file last, and its end is what closes it: no socket lingers for a
    // task that is exiting.
    const auto closed = std::make_shared<std::binary_semaphore>(0);
    (void)start_apart({descriptor.fd()}, [closed](const Apart&) { closed->acquire(); });
    descriptor = Descriptor();
    closed->release();
}

}  // namespace cgpu::link
