#pragma once

namespace cgpu::front {

/// From now on a forked child starts from scratch: not connected, without accounts, and without locks held by
/// threads that it doesn't have. (The driver itself can't be used in a child forked after cuInit; one forked
/// earlier calls cuInit itself.)
void reset_in_forked_children();

}  // namespace cgpu::front
