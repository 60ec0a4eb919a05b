#pragma once

#include <cstddef>

/// CUDA_VISIBLE_DEVICES as a job means it: its numbers are the job's own, though the driver, which sees all
/// of the node's GPUs, would take them for the node's.
namespace cgpu::front {

/// What the driver is to read in the place of `asked`, a list of numbers, in a job with the GPUs of `own`
/// (UUIDs: NVIDIA_VISIBLE_DEVICES as it was granted). As for the driver, a number that isn't there ends the
/// list. Without any that is there it becomes `-1`: no device. False, and `to` isn't changed: `asked` doesn't
/// begin with a number, `own` isn't a list of UUIDs, or the result doesn't fit.
bool own_devices(const char* asked, const char* own, char* to, std::size_t size);

/// From now on the library reads CUDA_VISIBLE_DEVICES in this way; the environment stays as it is. `library`:
/// a handle of dlopen. Several threads may call it at once.
void let_read_own_devices(void* library);

}  // namespace cgpu::front
