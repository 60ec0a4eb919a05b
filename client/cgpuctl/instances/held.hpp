#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/node/node.hpp"
#include "files/descriptor.hpp"

/// The processes of instances by descriptors: a number may soon be another process's, a descriptor never is.
namespace cgpu::cgpuctl {

/// A process of an instance.
struct Held {
    Descriptor process;  ///< pidfd_open(2)
    std::string instance;
    bool asked = false;   ///< SIGTERM was sent
    bool killed = false;  ///< SIGKILL was sent
    bool ended = false;
};

/// Host pids of what cgpud knows of the instance: its first process, and those that use the GPU by the
/// module.
[[nodiscard]] std::set<std::uint32_t> pids_of(const client::Instance& instance,
                                              const client::Snapshot& snapshot);

class HeldProcesses {
  public:
    HeldProcesses();

    /// Opens the processes of these instances that it doesn't have yet. A process is kept only if it is still
    /// the instance's in a second reading, and has not ended then: so it is the one that cgpud means. Returns
    /// which of the instances are there. Error: the node's, if it can't be read; what is held then stays.
    client::Result<std::set<std::string>> take(const std::set<std::string>& ids, client::Node& node);

    /// By host pid, those that have ended included.
    [[nodiscard]] std::map<std::uint32_t, Held>& all() { return held_; }
    /// Marks those that have ended.
    void look();
    /// Becomes readable when one ends that wasn't marked yet.
    [[nodiscard]] int fd() const { return any_.fd(); }

  private:
    std::map<std::uint32_t, Held> held_;
    Descriptor any_;
};

/// Error: an errno. Signal 0: only whether it may be sent.
[[nodiscard]] int send(const Held& held, int signal);

}  // namespace cgpu::cgpuctl
