// Gets the real library from the daemon, by descriptor. A path below the program's root would also be
// accessible to LD_PRELOAD and LD_LIBRARY_PATH.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "module/front/base/waiting.hpp"
#include "module/front/driver/real_library.hpp"
#include "module/front/link/connection.hpp"

namespace cgpu::front {
namespace {

/// The daemon may just be restarting. After a failure it is asked again, with a short timeout.
constexpr std::int64_t kFirstPatience = 10 * kSecond;
constexpr std::int64_t kLaterPatience = 50 * kMillisecond;
constexpr std::int64_t kNextTryAfter = kSecond;

constinit std::atomic<std::int64_t> failed_at{0};

/// -1: it isn't available.
int fetch_file(std::int64_t until_ns) {
    Descriptor socket;
    Packet packet;
    if (ask_hello(wire::Role::driver, until_ns, socket, packet) != Greeted::answered) return -1;
    socket.close();
    const auto answer = wire::read_message<wire::DriverFiles>(packet.data());
    std::size_t at = 0;
    for (const auto library : {wire::Library::cuda, wire::Library::nvml}) {
        if (!answer || (answer->libraries & wire::bit_of(library)) == 0) continue;
        if (library == kLibrary) {
            const int file = std::exchange(packet.files[at], -1);
            drop_files(packet);
            return file;
        }
        ++at;
    }
    drop_files(packet);
    return -1;
}

}  // namespace

void* open_real_library() {
    const int kept = errno;
    const Uncancelled uncancelled;
    const auto began = now_ns();
    const auto failed = failed_at.load();
    if (failed != 0 && began - failed < kNextTryAfter) return nullptr;
    const int file = fetch_file(began + (failed == 0 ? kFirstPatience : kLaterPatience));
    void* library = nullptr;
    if (file >= 0) {
        // The loader identifies libraries by the path by which they were opened, and this number will be
        // another file's later: so the path has an unusual form, which differs for both libraries.
        std::array<char, 64> path{};
        const char* folder = kLibrary == wire::Library::cuda ? "/proc/self/task/.." : "/proc/self/task/./..";
        std::snprintf(path.data(), path.size(), "%s/fd/%d", folder, file);
        library = dlopen(path.data(), RTLD_NOW | RTLD_LOCAL);
        close(file);
    }
    failed_at.store(library == nullptr ? now_ns() : 0);
    errno = kept;
    return library;
}

}  // namespace cgpu::front
