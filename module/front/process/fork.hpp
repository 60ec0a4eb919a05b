#pragma once

namespace cgpu::front {

/// From now on a forked child starts afresh: not connected, no accounts, no locks held by threads it doesn't
/// have. (The driver itself can't be used in a child forked after cuInit; one forked before calls cuInit
/// itself.)
void reset_in_forked_children();

}  // namespace cgpu::front
