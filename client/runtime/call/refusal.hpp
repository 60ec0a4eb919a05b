#pragma once

#include <string>

#include "client/runtime/call/hook_log.hpp"
#include "client/runtime/call/invocation.hpp"

namespace cgpu::runtime {

/// Reports why there will be no container: as a line of the runtime's log, which engines show to their users,
/// and on stderr.
void report_refusal(const Invocation& invocation, const std::string& text);

/// Reports why a hook failed: on stderr, which runc puts into its own error, and in a new file that replaces
/// the runtime's log. crun logs only that a hook failed, and an engine tells its user the last line: since
/// the runtime has opened its log before, that line goes to the former file.
void report_failed_hook(const HookLog& log, const std::string& text);

}  // namespace cgpu::runtime
