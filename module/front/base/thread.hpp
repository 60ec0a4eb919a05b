#pragma once

namespace cgpu::front {

/// Starts a detached thread of ours in the program's process: with a small stack if the program's
/// thread-local data leaves room for that, and with the program's signals blocked. False if it can't be
/// created.
bool start_thread(void* (*function)(void*), void* argument);

}  // namespace cgpu::front
