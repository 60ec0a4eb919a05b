#pragma once

namespace cgpu::front {

/// Starts a detached thread of ours in the program's process: with a small stack where the program's
/// thread-local data leaves room for that, and deaf to the program's signals. False where it can't be made.
bool start_thread(void* (*function)(void*), void* argument);

}  // namespace cgpu::front
