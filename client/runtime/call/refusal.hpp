#pragma once

#include <string>

#include "client/runtime/call/invocation.hpp"

namespace cgpu::runtime {

/// Says why there will be no container: as a line of the runtime's log, which is what engines show to their
/// users, and on stderr.
void report_refusal(const Invocation& invocation, const std::string& text);

/// Says why a hook failed: on stderr, which the runtime puts into its own error.
void report_failed_hook(const std::string& text);

}  // namespace cgpu::runtime
