#include "client/runtime/chain/programs.hpp"

#include <filesystem>

namespace cgpu::runtime {
namespace {

namespace fs = std::filesystem;

fs::path prefix() {
    const fs::path self = fs::canonical("/proc/self/exe");
    const fs::path folder = self.parent_path();
    return folder.filename() == "cgpu" ? folder.parent_path().parent_path() : folder.parent_path();
}

}  // namespace

std::string runtime_program() { return (prefix() / "bin/cgpu-runtime").native(); }
std::string low_level_folder() { return (prefix() / "lib/cgpu/runtimes").native(); }
std::string managed_program() { return (prefix() / "lib/cgpu/cgpu-runtime-managed").native(); }

}  // namespace cgpu::runtime
