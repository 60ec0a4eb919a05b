#pragma once

#include <functional>
#include <vector>

#include "files/descriptor.hpp"

namespace cgpu::link {

/// Runs `body` in a thread that has its own copy of this process's descriptors, and returns once it has: what
/// it receives, opens and closes is its own, and it alone waits for that. False: there is no such thread.
[[nodiscard]] bool start_apart(std::function<void()> body);

/// In such a thread: closes all descriptors but these and the standard ones.
void keep_only(std::vector<int> fds);

/// Closes a descriptor behind which a stranger may have put anything, and doesn't wait for it: close(2) of a
/// TCP socket with SO_LINGER takes as long as its owner wants, and so does that of a UNIX socket in whose
/// queue somebody has left one. The caller waits only until a thread has started.
void close_apart(Descriptor descriptor);

}  // namespace cgpu::link
