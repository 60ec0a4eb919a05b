#include "client/enter/privilege.hpp"

#include <sys/fsuid.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace cgpu::enter {
namespace {

using client::ClientError;

/// An invalid user or group id: the kernel changes nothing, and returns the value in force.
constexpr auto kAsk = static_cast<unsigned>(-1);

}  // namespace

client::Result<void> check_root() {
    if (geteuid() == 0) return {};
    return client::fail(ClientError::Kind::not_authorized,
                        "cgpu-enter: it has not become root. Its set-uid bit is missing, or the process is "
                        "traced or may not gain rights. Try: sudo cgpuctl run ….");
}

AsCaller::AsCaller() {
    setfsgid(getgid());
    setfsuid(getuid());
}

AsCaller::~AsCaller() {
    setfsuid(geteuid());
    setfsgid(getegid());
}

bool AsCaller::works() const {
    return setfsuid(kAsk) == static_cast<int>(getuid()) && setfsgid(kAsk) == static_cast<int>(getgid());
}

client::Result<void> become_caller() {
    const uid_t user = getuid();
    const gid_t group = getgid();
    if (setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0)
        return client::fail(ClientError::Kind::failed, std::string("cgpu-enter: giving up root's rights: ") +
                                                           std::strerror(errno) +
                                                           ". Try: sudo cgpuctl run ….");
    // With certain securebits, which processes inherit, the capabilities would have stayed.
    if (user != 0 && setresuid(user, 0, user) == 0)
        return client::fail(ClientError::Kind::failed,
                            "cgpu-enter: root's rights could not be given up. Try: cgpuctl run from a shell "
                            "without securebits (capsh --print).");
    return {};
}

}  // namespace cgpu::enter
