#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "files/descriptor.hpp"

namespace cgpu::link {

/// Descriptors in the thread's own table, in the order in which they were given.
using Apart = std::vector<int>;

/// Runs `body` in a thread that has a table of descriptors of its own, with copies of `fds` and the standard
/// ones, and returns once it has: what it receives, opens and closes is its own, and it alone waits for that.
/// False: there is no such thread. At most kMostApart descriptors.
[[nodiscard]] bool start_apart(const std::vector<int>& fds, std::function<void(const Apart&)> body);
constexpr std::size_t kMostApart = 4;

/// In such a thread: closes all descriptors but this one and the standard ones.
void keep_only(int fd);

/// Closes a descriptor behind which a stranger may have put anything, and doesn't wait for it: close(2) of a
/// TCP socket with SO_LINGER takes as long as its owner wants, and so does that of a UNIX socket in whose
/// queue somebody has left one. The caller waits only until a thread has started.
void close_apart(Descriptor descriptor);

}  // namespace cgpu::link
