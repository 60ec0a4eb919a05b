#pragma once

#include <initializer_list>

#include <csignal>

namespace cgpu::cgpuctl {

/// While this object lives, these signals don't interrupt the calling thread, nor those that it makes: they
/// can only be read here.
class HeldSignals {
  public:
    explicit HeldSignals(std::initializer_list<int> signals);
    ~HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

    /// Becomes readable when one of them has arrived.
    [[nodiscard]] int fd() const { return fd_; }
    /// A signal that has arrived, which is consumed; 0: none.
    [[nodiscard]] int take() const;

  private:
    int fd_ = -1;
    sigset_t before_{};
};

}  // namespace cgpu::cgpuctl
