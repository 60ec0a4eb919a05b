#include "daemon/system/processes/exit_info.hpp"

#include <sys/ioctl.h>
#include <sys/wait.h>

#include <array>
#include <cstdint>

namespace cgpu::system {
namespace {

// linux/pidfd.h of 6.15; the headers of older systems don't have it.
struct PidfdInfo {
    std::uint64_t mask;
    std::uint64_t cgroup;
    std::array<std::uint32_t, 11> ids;
    std::int32_t exit_code;  ///< as wait(2) gives it
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t kExit = std::uint64_t{1} << 3;

}  // namespace

bool was_killed(int pidfd) {
    PidfdInfo info{};
    info.mask = kExit;
    if (ioctl(pidfd, _IOWR(0xFF, 11, PidfdInfo), &info) != 0 || (info.mask & kExit) == 0) return false;
    return WIFSIGNALED(info.exit_code);
}

}  // namespace cgpu::system
