#pragma once

#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/request/request.hpp"

namespace cgpu::request {

/// The combined meaning of the variables about memory.
struct MemoryWish {
    enum class Kind {
        absent,        ///< none of them is set
        off,           ///< a zero: explicitly not managed
        node_default,  ///< ALIYUN_COM_GPU_MEM_CONTAINER is set and empty
        listed,        ///< as in `per_gpu`
    };
    Kind kind = Kind::absent;
    std::vector<MemoryAsk> per_gpu;  ///< the last one repeats; as long as the list that was given
    bool huawei_only = false;        ///< set by volcano.sh/gpu-mem.128Mi alone
};

/// Reads ALIYUN_COM_GPU_MEM_CONTAINER with _DEV, CGPU_MEM, volcano.sh/gpu-mem.128Mi and aliyun.com/gpu-mem,
/// the last one divided by `gpu_count` GPUs (the quotient must be whole).
[[nodiscard]] tl::expected<MemoryWish, model::Refusal> read_memory(const Variables& variables,
                                                                   std::uint32_t gpu_count);

}  // namespace cgpu::request
