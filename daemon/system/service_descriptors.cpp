#include "daemon/system/service_descriptors.hpp"

#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace cgpu::system {

std::size_t descriptor_limit() {
    rlimit limit{};
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<std::size_t>(limit.rlim_cur) : 1024;
}

ServiceDescriptors::ServiceDescriptors() {
    char** names = nullptr;
    const int count = sd_listen_fds_with_names(1, &names);
    for (int i = 0; i < count; ++i) {
        const int fd = SD_LISTEN_FDS_START + i;
        // Of two with one name only the first is kept.
        if (names == nullptr || names[i] == nullptr || !handed_.emplace(names[i], fd).second) close(fd);
    }
    for (int i = 0; names != nullptr && names[i] != nullptr; ++i) std::free(names[i]);
    std::free(names);
}

ServiceDescriptors::~ServiceDescriptors() {
    for (const auto& [name, fd] : handed_) close(fd);
}

void ServiceDescriptors::keep(const std::string& name, int fd) {
    sd_pid_notify_with_fds(0, 0, ("FDSTORE=1\nFDNAME=" + name).c_str(), &fd, 1);
}

void ServiceDescriptors::forget(const std::string& name) {
    sd_notify(0, ("FDSTOREREMOVE=1\nFDNAME=" + name).c_str());
}

int ServiceDescriptors::take(const std::string& name) {
    const auto found = handed_.find(name);
    if (found == handed_.end()) return -1;
    const int fd = found->second;
    handed_.erase(found);
    return fd;
}

void ServiceDescriptors::forget_rest() {
    for (const auto& [name, fd] : std::exchange(handed_, {})) {
        close(fd);
        forget(name);
    }
}

}  // namespace cgpu::system
