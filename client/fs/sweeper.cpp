#include "client/fs/sweeper.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <system_error>

namespace cgpu::fs {

Sweeper::~Sweeper() {
    stop();
    if (thread_.joinable()) thread_.join();
}

void Sweeper::start() {
    // Signals are for libfuse, whose main thread they must interrupt.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        // The tree works without it, and takes more memory.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Sweeper::looked_up(std::string_view path) {
    if (!looked_up_.add(path)) return;
    {
        const std::lock_guard lock(mutex_);
        due_ = true;
    }
    changed_.notify_one();
}

void Sweeper::stop() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_one();
}

void Sweeper::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return due_ || ends_; });
        if (ends_) return;
        due_ = false;
        lock.unlock();
        const auto node = view_.now();
        if (!node) {
            lock.lock();
            continue;
        }
        for (const std::string& gone : looked_up_.take_gone(**node)) {
            struct stat unused {};
            lstat((folder_ + gone).c_str(), &unused);
            const std::lock_guard between(mutex_);
            if (ends_) return;
        }
        lock.lock();
    }
}

}  // namespace cgpu::fs
