#pragma once

#include <map>
#include <string>
#include <string_view>

#include "client/node/client_error.hpp"

namespace cgpu::client {

/// The environment, or the part of it that asks for GPUs.
using Variables = std::map<std::string, std::string>;

/// The flags of `cgpuctl run` as written; empty where not given.
struct RunFlags {
    std::string memory;
    std::string weight;
    std::string compute;
    std::string gpus;
    std::string priority;
};

/// Whether a variable or annotation of this name says something about GPUs.
[[nodiscard]] bool asks_for_gpu(std::string_view name);

/// What to ask the daemon for: the ALIYUN_COM_GPU_*, CGPU_* and like variables of `environment`, with the
/// flags as CGPU_* in place of every variable that says the same thing. Error (usage): flags that contradict
/// each other, a value that can't be read, or nothing that asks for an instance.
[[nodiscard]] Result<Variables> request_variables(const RunFlags& flags, const Variables& environment);

}  // namespace cgpu::client
