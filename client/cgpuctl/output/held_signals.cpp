#include "client/cgpuctl/output/held_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace cgpu::cgpuctl {

HeldSignals::HeldSignals(std::initializer_list<int> signals) {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : signals) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
    fd_ = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
}

HeldSignals::~HeldSignals() {
    close(fd_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int HeldSignals::take() const {
    signalfd_siginfo info{};
    return read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace cgpu::cgpuctl
