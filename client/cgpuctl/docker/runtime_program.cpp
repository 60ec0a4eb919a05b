#include "client/cgpuctl/docker/runtime_program.hpp"

#include <filesystem>

#include <unistd.h>

namespace cgpu::cgpuctl {

client::Result<std::string> runtime_program() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "cgpu-runtime";
    if (access(path.c_str(), X_OK) == 0) return path.native();
    return client::fail(client::ClientError::Kind::failed,
                        path.native() + ": it is not installed. Try: install cgpu again.");
}

}  // namespace cgpu::cgpuctl
