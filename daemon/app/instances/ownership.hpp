#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/node.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Who calls, by the bus's word.
struct Caller {
    std::uint32_t user = 0;  ///< effective user id
    model::Process process;
    /// It may touch its own instances and processes only.
    bool own_only = false;
};

/// Whether the caller made this instance; also where there is no such one, because then there is nothing of
/// others to touch.
[[nodiscard]] bool is_own(const model::Node& node, std::string_view id, const Caller& caller);

/// Whether the instance is the caller's own, or there is none, and no process has been attached: nothing
/// would go on without a limit if it were released.
[[nodiscard]] bool may_withdraw(const model::Node& node, std::string_view id, const Caller& caller);

/// Whether the process runs with the caller's user id.
[[nodiscard]] bool is_own(Processes& processes, const model::Process& process, const Caller& caller);

/// Whether the caller may put the process into an instance of its own.
[[nodiscard]] bool may_attach(Processes& processes, const model::Process& process, const Caller& caller);

}  // namespace cgpu::app
