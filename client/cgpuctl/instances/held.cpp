#include "client/cgpuctl/instances/held.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace cgpu::cgpuctl {
namespace {

// By number: not every C library that builds this has a function for them.
Descriptor open_process(std::uint32_t pid) {
    return Descriptor(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0U)));
}

bool has_ended(const Held& held) {
    pollfd file{held.process.fd(), POLLIN, 0};
    return poll(&file, 1, 0) > 0;
}

const client::Instance* find(const client::Snapshot& snapshot, const std::string& id) {
    const auto found = std::ranges::find(snapshot.instances, id, &client::Instance::id);
    return found == snapshot.instances.end() ? nullptr : &*found;
}

}  // namespace

std::set<std::uint32_t> pids_of(const client::Instance& instance, const client::Snapshot& snapshot) {
    std::set<std::uint32_t> pids;
    if (instance.pid != 0) pids.insert(instance.pid);
    for (const client::Process& process : instance.processes) pids.insert(process.pid);
    // The container behind an instance that only books GPUs.
    for (const client::UnmanagedContainer& container : snapshot.unmanaged)
        if (container.id == instance.id && container.pid != 0) pids.insert(container.pid);
    return pids;
}

HeldProcesses::HeldProcesses() : any_(epoll_create1(EPOLL_CLOEXEC)) {}

client::Result<std::set<std::string>> HeldProcesses::take(const std::set<std::string>& ids,
                                                          client::Node& node) {
    const auto before = node.read();
    if (!before) return tl::unexpected(before.error());
    std::set<std::string> there;
    std::map<std::uint32_t, Held> opened;
    for (const std::string& id : ids) {
        const client::Instance* instance = find(*before, id);
        if (instance == nullptr) continue;
        there.insert(id);
        for (const std::uint32_t pid : pids_of(*instance, *before)) {
            const auto known = held_.find(pid);
            if (known != held_.end() && !known->second.ended) continue;
            Held held{open_process(pid), id};
            if (held.process.fd() >= 0) opened.emplace(pid, std::move(held));
        }
    }
    if (opened.empty()) return there;
    const auto after = node.read();
    if (!after) return tl::unexpected(after.error());
    for (auto& [pid, held] : opened) {
        const client::Instance* instance = find(*after, held.instance);
        if (instance == nullptr || !pids_of(*instance, *after).contains(pid) || has_ended(held)) continue;
        epoll_event wanted{};
        wanted.events = EPOLLIN | EPOLLONESHOT;
        epoll_ctl(any_.fd(), EPOLL_CTL_ADD, held.process.fd(), &wanted);
        held_.insert_or_assign(pid, std::move(held));
    }
    return there;
}

void HeldProcesses::look() {
    for (auto& [pid, held] : held_) {
        if (held.ended || !has_ended(held)) continue;
        held.ended = true;
        epoll_ctl(any_.fd(), EPOLL_CTL_DEL, held.process.fd(), nullptr);
    }
}

int send(const Held& held, int signal) {
    return syscall(SYS_pidfd_send_signal, held.process.fd(), signal, nullptr, 0U) == 0 ? 0 : errno;
}

}  // namespace cgpu::cgpuctl
