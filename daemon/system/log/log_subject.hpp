#pragma once

#include <string_view>

namespace cgpu::system {

/// The subject of a log line. A line names it first: "instance 3f2a…: …", "instance 3f2a…: process 12: …",
/// "GPU 0 (GPU-…): …".
struct LogSubject {
    std::string_view instance;  ///< the id as written (short), or empty
    std::string_view gpu;       ///< the index as written, or empty
    std::string_view gpu_uuid;  ///< as written behind the index, or empty
    std::string_view process;   ///< of the instance: the host pid as written, or empty
};

[[nodiscard]] LogSubject subject_of(std::string_view line);

}  // namespace cgpu::system
