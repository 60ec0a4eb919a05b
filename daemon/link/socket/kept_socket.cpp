#include "daemon/link/socket/kept_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <utility>

namespace cgpu::link {
namespace {

bool listens(int socket) {
    int listening = 0;
    socklen_t size = sizeof listening;
    return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening != 0;
}

}  // namespace

KeptSocket::KeptSocket(app::DescriptorStore& store, app::InstanceKey instance)
    : store_(store), instance_(std::move(instance)) {}

/// The file's device and inode are in the name: processes reach the socket by that file, and one that was
/// bound to a file that is gone would never get a connection. Empty if there is no socket.
std::string KeptSocket::name_in(int folder) const {
    struct stat status {};
    if (fstatat(folder, "socket", &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(status.st_mode)) return {};
    return "link-" + std::to_string(instance_.generation) + "-" + std::to_string(status.st_dev) + "-" +
           std::to_string(status.st_ino) + "-" + instance_.id.str();
}

Descriptor KeptSocket::take(int folder) {
    auto name = name_in(folder);
    Descriptor socket(name.empty() ? -1 : store_.take(name));
    if (!socket || !listens(socket.fd())) return Descriptor();
    name_ = std::move(name);
    kept_ = true;
    return socket;
}

void KeptSocket::bound(int folder) {
    name_ = name_in(folder);
    kept_ = false;
}

void KeptSocket::keep(int socket) {
    if (kept_ || name_.empty()) return;
    store_.keep(name_, socket);
    kept_ = true;
}

void KeptSocket::forget() {
    if (std::exchange(kept_, false)) store_.forget(name_);
}

}  // namespace cgpu::link
