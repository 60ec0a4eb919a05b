#include "daemon/link/base/apart.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
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
    std::function<void()> body;
    std::binary_semaphore tried{0};
    bool has_table = false;
};

}  // namespace

bool start_apart(std::function<void()> body) {
    const auto start = std::make_shared<Start>();
    start->body = std::move(body);
    try {
        std::thread([start] {
            const bool has_table = unshare(CLONE_FILES) == 0;
            start->has_table = has_table;
            start->tried.release();
            if (has_table) call_with_own_table(start->body);
        }).detach();
    } catch (const std::system_error&) {
        return false;
    }
    start->tried.acquire();
    return start->has_table;
}

void keep_only(std::vector<int> fds) {
    std::ranges::sort(fds);
    unsigned next = STDERR_FILENO + 1;
    for (const int fd : fds) {
        const auto number = static_cast<unsigned>(fd);
        if (number < next) continue;
        if (number > next) syscall(SYS_close_range, next, number - 1, 0U);
        next = number + 1;
    }
    syscall(SYS_close_range, next, ~0U, 0U);
}

void close_apart(Descriptor descriptor) {
    if (!descriptor) return;
    // The thread is the one that closes the file last, and its end is what closes it: no socket lingers for a
    // task that is exiting. Whatever else its end may wait for, it keeps no other descriptor.
    const auto closed = std::make_shared<std::binary_semaphore>(0);
    (void)start_apart([closed, fd = descriptor.fd()] {
        closed->acquire();
        keep_only({fd});
    });
    descriptor = Descriptor();
    closed->release();
}

}  // namespace cgpu::link
