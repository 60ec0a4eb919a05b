#pragma once

#include <string>

#include "client/runtime/call/invocation.hpp"

namespace cgpu::runtime {

/// Reports why there will be no container: as a line of the runtime's log, which engines show to their users,
/// and on stderr.
void report_refusal(const Invocation& invocation, const std::string& text);

/// Reports why a hook failed: on stderr, which the runtime puts into its own error.
void report_failed_hook(const std::string& text);

}  // namespace cgpu::runtime
