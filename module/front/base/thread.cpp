#include "module/front/base/thread.hpp"

#include <pthread.h>
#include <signal.h>

#include <cstddef>

namespace cgpu::front {
namespace {

/// Enough for the driver's event calls. glibc also puts the program's thread-local variables on it.
constexpr std::size_t kStackBytes = std::size_t{512} * 1024;

bool create_detached(void* (*function)(void*), void* argument, std::size_t stack_bytes) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_t thread{};
    const int failed = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    return failed == 0;
}

}  // namespace

bool start_thread(void* (*function)(void*), void* argument) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    // A program with much thread-local data needs more than the small stack: then the default size is used.
    const bool made =
        create_detached(function, argument, kStackBytes) || create_detached(function, argument, 0);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return made;
}

}  // namespace cgpu::front
