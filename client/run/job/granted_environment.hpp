#pragma once

#include <vector>

#include "client/node/values/snapshot.hpp"
#include "client/run/job/run_request.hpp"

namespace cgpu::client {

/// The variables by which the command sees its grant, by cGPU's contract: the GPUs' UUIDs as
/// CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES, GiB per GPU as ALIYUN_COM_GPU_MEM_CONTAINER and GiB of a
/// card as ALIYUN_COM_GPU_MEM_DEV. The GiB of a limit are the largest number that the formula of admission
/// (card × GiB ÷ card's GiB) turns into at most that limit: 4301MiB of 16130MiB is 4 of 15. Both are lists,
/// GPU by GPU, if the cards differ in size. A limit below one GiB has no number there (0 would mean
/// unmanaged), so both variables are left out then.
[[nodiscard]] Variables granted_environment(const std::vector<Quota>& quotas, const std::vector<Gpu>& gpus);

}  // namespace cgpu::client
