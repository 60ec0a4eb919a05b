#pragma once

#include <vector>

#include "client/node/snapshot.hpp"
#include "client/run/job/run_request.hpp"

namespace cgpu::client {

/// What the command sees of its grant (S3): the GPUs' UUIDs as CUDA_VISIBLE_DEVICES and
/// NVIDIA_VISIBLE_DEVICES, GiB per GPU as ALIYUN_COM_GPU_MEM_CONTAINER and GiB of a card as
/// ALIYUN_COM_GPU_MEM_DEV. The GiB of a limit are the most that SPEC's formula turns into no more than that
/// limit: 4301MiB of 16130MiB is 4 of 15. A limit that is less than one of them has no number there (0 would
/// mean unmanaged), so both variables are left out then, and also where the cards differ in size.
[[nodiscard]] Variables granted_environment(const std::vector<Quota>& quotas, const std::vector<Gpu>& gpus);

}  // namespace cgpu::client
