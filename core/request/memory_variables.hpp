#pragma once

#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/request/request.hpp"

namespace cgpu::request {

/// What the variables about memory say together.
struct MemoryWish {
    enum class Kind {
        absent,        ///< none of them is there
        off,           ///< a zero: explicitly not managed
        node_default,  ///< ALIYUN_COM_GPU_MEM_CONTAINER or CGPU_MEM is there and empty
        listed,        ///< as in `per_gpu`
    };
    Kind kind = Kind::absent;
    std::vector<MemoryAsk> per_gpu;  ///< the last one repeats; as long as the list that was given
    bool huawei_only = false;        ///< said by volcano.sh/gpu-mem.128Mi alone
};

/// Reads ALIYUN_COM_GPU_MEM_CONTAINER with _DEV, CGPU_MEM, volcano.sh/gpu-mem.128Mi and aliyun.com/gpu-mem,
/// the last one divided by `gpu_count` GPUs (S3: N/M must be whole).
[[nodiscard]] tl::expected<MemoryWish, model::Refusal> read_memory(const Variables& variables,
                                                                   std::uint32_t gpu_count);

}  // namespace cgpu::request
