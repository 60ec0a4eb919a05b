#pragma once

#include <string>

#include "daemon/gpu/reader/nvml_reader.hpp"

namespace cgpu::gpu {

/// The answer to one line, which may be no question: a refusal with the id 0 then.
[[nodiscard]] std::string answer_to(const std::string& line, NvmlReader& reader);

}  // namespace cgpu::gpu
