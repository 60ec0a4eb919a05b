#pragma once

#include <map>
#include <string>
#include <string_view>

#include "client/node/values/client_error.hpp"

namespace cgpu::client {

/// The environment, or the part of it that requests GPUs.
using Variables = std::map<std::string, std::string>;

/// Of this process.
[[nodiscard]] Variables whole_environment();

/// The flags of `cgpuctl run` as written; empty where not given.
struct RunFlags {
    std::string memory;
    std::string weight;
    std::string compute;
    std::string gpus;
    std::string priority;
    std::string profile{};
    std::string wait{};
    std::string time{};
    std::string idle{};
};

/// Whether a variable or annotation of this name is about GPUs.
[[nodiscard]] bool asks_for_gpu(std::string_view name);

/// The variables of the request: the ALIYUN_COM_GPU_*, CGPU_* and similar variables of `environment`, with
/// the flags as CGPU_* in place of every variable that means the same. Empty: they say that the command is
/// not to be managed (CGPU_DISABLE, or an amount of zero). Error (usage): flags that contradict each other, a
/// value that can't be read, or nothing that requests an instance.
[[nodiscard]] Result<Variables> request_variables(const RunFlags& flags, const Variables& environment);

}  // namespace cgpu::client
