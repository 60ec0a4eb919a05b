#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/node.hpp"
#include "core/model/owner.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// The caller, as the bus identifies it.
struct Caller {
    std::uint32_t user = 0;  ///< effective user id
    model::Process process;
    /// It may change its own instances and processes only.
    bool own_only = false;
};

/// What a caller says of the instance that it asks for.
struct Origin {
    std::string image{};  ///< Instance::image
    /// As whom the job will run. Empty: it is a container, or it runs as the caller.
    std::optional<std::uint32_t> runs_as = std::nullopt;
};

/// Whose an instance is that the caller asks for, if it declares this owner. Only root is believed that it
/// runs as somebody else; in a user namespace others are root to themselves.
[[nodiscard]] model::Owner owner_of_new(const Caller& caller, const Origin& origin,
                                        const std::string& declared);

/// Whether the caller created this instance. Also true if there is no such instance, because then nothing of
/// others can be changed.
[[nodiscard]] bool is_own(const model::Node& node, std::string_view id, const Caller& caller);

/// Whether the instance is the caller's own, or there is none, and no process has been attached: after its
/// release no process would continue without a limit.
[[nodiscard]] bool may_withdraw(const model::Node& node, std::string_view id, const Caller& caller);

/// Whether the process runs with the caller's user id.
[[nodiscard]] bool is_own(Processes& processes, const model::Process& process, const Caller& caller);

/// Whether the caller may put the process into an instance of its own.
[[nodiscard]] bool may_attach(Processes& processes, const model::Process& process, const Caller& caller);

}  // namespace cgpu::app
