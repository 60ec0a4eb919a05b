#pragma once

#include "daemon/app/ports.hpp"
#include "dbus/compat.hpp"

/// Who may do what: reading is free, only root changes anything.
namespace cgpu::bus {

/// Refused (not_permitted) for anybody but root.
[[nodiscard]] app::Result<void> may_change(const compat::Credentials& caller);

/// Whoever sent the message that `object` works on now; the bus's word, never the message's. Throws a bus
/// error (NotAuthorized) where the bus can't say any more, because the caller is gone.
[[nodiscard]] compat::Credentials caller_of(const sdbus::IObject& object);

}  // namespace cgpu::bus
