// Gets the real library from the daemon, by descriptor. A path below the program's root would also be
// accessible to LD_PRELOAD and LD_LIBRARY_PATH.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "module/front/base/loading.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/driver/real_library.hpp"
#include "module/front/link/connection.hpp"
#include "module/front/link/undumpable.hpp"
#include "module/front/link/unreachable.hpp"

namespace cgpu::front {
namespace {

/// The daemon may just be restarting. After a failure it is asked again, with a short timeout.
constexpr std::int64_t kFirstPatience = 10 * kSecond;
constexpr std::int64_t kLaterPatience = 50 * kMillisecond;
constexpr std::int64_t kNextTryAfter = kSecond;

constinit std::atomic<std::int64_t> failed_at{0};

/// The files of the driver that have come, until they are closed. Meanwhile other processes of the user can't
/// open them by /proc/PID/fd: the driver behind them has no limits. Forked children close their copies at
/// once.
class Files {
  public:
    Files() {
        Receiving::keep_out();
        next_ = first;
        first = this;
        Receiving::let_in();
    }
    ~Files() {
        Receiving::keep_out();
        for (Files** place = &first; *place != nullptr; place = &(*place)->next_) {
            if (*place != this) continue;
            *place = next_;
            break;
        }
        drop_files(packet_);
        Receiving::let_in();
    }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    /// Waits until `until_ns` for the descriptor of this front's library. -1: it isn't available.
    int fetch(std::int64_t until_ns) {
        Descriptor socket;
        if (ask_hello(wire::Role::driver, until_ns, socket, packet_) != Greeted::answered) return -1;
        socket.close();
        const auto answer = wire::read_message<wire::DriverFiles>(packet_.data());
        std::size_t at = 0;
        std::size_t own = kPages;
        for (const auto library : {wire::Library::cuda, wire::Library::nvml}) {
            if (!answer || (answer->libraries & wire::bit_of(library)) == 0) continue;
            if (library == kLibrary) own = at;
            ++at;
        }
        // The other front's library isn't loaded here.
        Receiving::keep_out();
        const int file = own < kPages ? std::exchange(packet_.files[own], -1) : -1;
        drop_files(packet_);
        packet_.files[0] = file;
        Receiving::let_in();
        return file;
    }

    [[nodiscard]] static bool are_hidden() { return Undumpable::holds(); }

    /// Call before there is one.
    static void handle_forks() {
        static constinit std::atomic<bool> done{false};
        if (!done.exchange(true)) pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }

  private:
    static void before_fork() {
        Undumpable::before_fork();
        Receiving::keep_out();
    }
    static void after_fork_in_parent() {
        Receiving::let_in();
        Undumpable::after_fork_in_parent();
    }
    static void after_fork_in_child() {
        Receiving::reset_in_child();
        for (Files* files = first; files != nullptr; files = files->next_) drop_files(files->packet_);
        first = nullptr;
        Undumpable::after_fork_in_child();
    }

    static Files* first;  ///< of those that live; used while no thread receives

    Undumpable undumpable_;  // it begins before the packet comes, and ends after that is closed
    Packet packet_{};
    Files* next_ = nullptr;
};

constinit Files* Files::first = nullptr;

/// Why the library wasn't loaded, for cgpud's log; empty if cgpud knows.
using Reason = std::array<char, sizeof(wire::Notice::detail)>;

bool has_proc() { return access("/proc/thread-self/fd", F_OK) == 0; }

/// What the loader says, without the path in front: the number in it tells nothing.
std::string_view loaders_words(std::string_view path) {
    const char* words = dlerror();
    std::string_view text = words != nullptr ? words : "the loader says nothing";
    if (text.starts_with(path)) text.remove_prefix(path.size());
    if (text.starts_with(": ")) text.remove_prefix(2);
    return text;
}

/// Waits until `until_ns` for the library's file.
void* load(std::int64_t until_ns, Reason& why) {
    Files files;
    if (!Files::are_hidden()) {
        wire::put_text(why, has_proc() ? wire::kCantHide : wire::kNoProc);
        return nullptr;
    }
    const int file = files.fetch(until_ns);
    if (file < 0) return nullptr;
    // The loader identifies libraries by the path by which they were opened, and this number will be
    // another file's later: so the path has an unusual form, which differs for both libraries. It leads
    // through this thread, because /proc/self/fd is empty once the main thread has ended.
    std::array<char, 64> path{};
    const char* folder = kLibrary == wire::Library::cuda ? "/proc/thread-self/." : "/proc/thread-self/./.";
    std::snprintf(path.data(), path.size(), "%s/fd/%d", folder, file);
    const Loading guard;
    void* library = dlopen(path.data(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) wire::put_text(why, has_proc() ? loaders_words(path.data()) : wire::kNoProc);
    return library;
}

}  // namespace

void* open_real_library() {
    const int kept = errno;
    const Uncancelled uncancelled;
    const auto began = now_ns();
    const auto failed = failed_at.load();
    if (failed != 0 && began - failed < kNextTryAfter) return nullptr;
    Files::handle_forks();
    Reason why{};
    void* library = load(began + (failed == 0 ? kFirstPatience : kLaterPatience), why);
    if (library == nullptr && why[0] != '\0') tell_unreachable(why.data());
    failed_at.store(library == nullptr ? now_ns() : 0);
    errno = kept;
    return library;
}

}  // namespace cgpu::front
