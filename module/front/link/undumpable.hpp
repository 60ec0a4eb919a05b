#pragma once

#include <cstdint>

namespace cgpu::front {

/// While one of these lives, the process is not "dumpable" (prctl(2), PR_SET_DUMPABLE): other processes of
/// the same user can't open what it has open (/proc/PID/fd, pidfd_getfd), nor attach to it, unless they have
/// CAP_SYS_PTRACE over the user namespace in which it was executed. The process itself can.
///
/// The state is the whole process's, and the program's: it is changed only if the process was dumpable, and
/// put back when the last of these objects has gone. The fronts of libcuda and libnvidia-ml are libraries of
/// their own that may load their drivers at the same time, so all in a process count in one place: the state
/// of the front that was loaded first. Fronts in different linker namespaces (dlmopen) don't find each other.
///
/// If the user or group ids have changed meanwhile, it isn't put back: the kernel makes a process that
/// changed them undumpable, and so it stays. (Ids that were changed and changed back within these
/// milliseconds are not noticed, nor those of one thread alone.)
///
/// Forked children must be told, by the handlers of pthread_atfork. A copy made without them (a bare clone)
/// stays undumpable until it executes a program.
class Undumpable {
  public:
    Undumpable();
    ~Undumpable();
    Undumpable(const Undumpable&) = delete;
    Undumpable& operator=(const Undumpable&) = delete;

    /// Whether the process is hidden in fact. A filter of system calls (seccomp) can answer prctl instead of
    /// the kernel, so the owner that the kernel shows of the process's files in /proc counts, too: root's,
    /// unless it is dumpable. The owner says nothing of a process that is root itself, nor of one in a user
    /// namespace that shows root by the process's own number: that one must have no filter. False also where
    /// /proc isn't mounted.
    [[nodiscard]] static bool holds();

    static void before_fork();
    static void after_fork_in_parent();
    /// Call when the child's copies of what is hidden are closed. An object whose scope the child leaves
    /// later does nothing.
    static void after_fork_in_child();

  private:
    std::uint32_t generation_;
};

}  // namespace cgpu::front
