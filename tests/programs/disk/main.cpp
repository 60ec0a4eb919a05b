// A disk in memory, mounted over a folder, that fails as it is told, and whose power can be cut. Told by
// lines to its socket, with an answer of a line each:
//   fail STEP ERROR   from now on this step fails: `fail sync EIO`; steps are in disk.cpp
//   full              what needs space is refused
//   full-anew         every write is refused, too: such a disk never writes in place
//   read-only         everything is refused that changes something
//   well              nothing fails any more
//   hold N            from the Nth step from now on, nothing is answered until the power fails
//   held              how many wait so
//   steps             how many steps there were
//   cut SEED          the power fails and comes back: what wasn't synced is there, partly there, or not
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "tests/programs/disk/served.hpp"
#include "tests/programs/support/options.hpp"

namespace {

using programs::disk::Served;
using programs::disk::Step;

const std::map<std::string, int> kErrors = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EROFS", EROFS},
                                            {"EINVAL", EINVAL}, {"EDQUOT", EDQUOT}, {"0", 0}};

/// A socket at this path, to be told by, or to tell by.
int socket_at(const std::string& path, bool listen) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) return -1;
    path.copy(static_cast<char*>(address.sun_path), path.size());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto* where = reinterpret_cast<const sockaddr*>(&address);
    if (listen) {
        ::unlink(path.c_str());
        return ::bind(fd, where, sizeof(address)) == 0 && ::listen(fd, 8) == 0 ? fd : -1;
    }
    return ::connect(fd, where, sizeof(address)) == 0 ? fd : -1;
}

std::string cut(Served& served, std::uint64_t seed) {
    served.holds_from = 0;
    // Who asked is dead, and doesn't learn of this.
    for (const auto request : std::exchange(served.held, {})) fuse_reply_err(request, EIO);
    return served.disk.cut(seed);
}

void refuse_all(Served& served, std::initializer_list<Step> steps, int error) {
    for (const Step step : steps) served.disk.set_fault(step, error);
}

std::string told(Served& served, const std::string& line) {
    std::istringstream words(line);
    std::string order;
    std::string what;
    std::string error;
    words >> order >> what >> error;
    const auto number = std::strtoull(what.c_str(), nullptr, 10);
    if (order == "full" || order == "full-anew") {
        refuse_all(served, {Step::create, Step::grow}, ENOSPC);
        if (order == "full-anew") refuse_all(served, {Step::write}, ENOSPC);
    } else if (order == "read-only") {
        refuse_all(served,
                   {Step::create, Step::open, Step::write, Step::grow, Step::shorten, Step::rename,
                    Step::exchange, Step::remove, Step::attributes},
                   EROFS);
    } else if (order == "fail") {
        const auto step = programs::disk::step_named(what);
        if (!step || !kErrors.contains(error)) return "not known: " + line;
        served.disk.set_fault(*step, kErrors.at(error));
    } else if (order == "well") {
        served.disk.no_faults();
    } else if (order == "hold") {
        served.holds_from = served.disk.steps() + number;
    } else if (order == "held") {
        return std::to_string(served.held.size());
    } else if (order == "steps") {
        return std::to_string(served.disk.steps());
    } else if (order == "cut") {
        return cut(served, number);
    } else {
        return "not known: " + line;
    }
    return "done";
}

void listen_to(int listener, Served& served) {
    const int caller = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (caller < 0) return;
    std::string line;
    for (char byte = 0; ::read(caller, &byte, 1) == 1 && byte != '\n';) line += byte;
    const std::string answer = told(served, line) + "\n";
    if (::send(caller, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) std::perror("answering");
    ::close(caller);
}

int ask(const std::string& socket, const std::string& line) {
    const int disk = socket_at(socket, false);
    if (disk < 0 || ::send(disk, (line + "\n").data(), line.size() + 1, MSG_NOSIGNAL) < 0) {
        std::perror(socket.c_str());
        return 1;
    }
    std::string answer;
    for (char byte = 0; ::read(disk, &byte, 1) == 1 && byte != '\n';) answer += byte;
    std::cout << answer << '\n';
    return answer.empty() || answer.starts_with("not known") ? 1 : 0;
}

/// Until a signal ends it, or somebody unmounts it.
int serve(const std::string& folder, int listener) {
    Served served{};
    fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
    for (const char* each : {"unsafe_disk", "-oallow_other,default_permissions,fsname=unsafe_disk"})
        fuse_opt_add_arg(&arguments, each);
    fuse_session* session =
        fuse_session_new(&arguments, &programs::disk::operations(), sizeof(fuse_lowlevel_ops), &served);
    if (session == nullptr || fuse_set_signal_handlers(session) != 0 ||
        fuse_session_mount(session, folder.c_str()) != 0) {
        std::cerr << "unsafe_disk: it can't be mounted at " << folder << '\n';
        return 1;
    }
    std::cout << "ready" << std::endl;
    fuse_buf buffer{};
    pollfd waits[] = {{fuse_session_fd(session), POLLIN, 0}, {listener, POLLIN, 0}};
    while (fuse_session_exited(session) == 0) {
        if (::poll(static_cast<pollfd*>(waits), 2, -1) < 0) continue;
        if (waits[1].revents != 0) listen_to(listener, served);
        if (waits[0].revents == 0) continue;
        const int size = fuse_session_receive_buf(session, &buffer);
        if (size == -EINTR) continue;
        if (size <= 0) break;
        fuse_session_process_buf(session, &buffer);
    }
    std::free(buffer.mem);
    fuse_session_unmount(session);
    fuse_remove_signal_handlers(session);
    fuse_session_destroy(session);
    fuse_opt_free_args(&arguments);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options("A disk in memory that fails as it is told, and whose power can be cut");
    std::string folder;
    std::string socket;
    std::string line;
    options.value("--at", folder, "Mount it over this folder");
    options.value("--tell", line, "Tell the disk with this socket a line, and print its answer");
    options.value("--socket", socket, "By which it is told").required();
    if (const auto status = options.parse(argc, argv)) return *status;
    if (!line.empty()) return ask(socket, line);
    const int listener = socket_at(socket, true);
    if (listener < 0) {
        std::perror(socket.c_str());
        return 1;
    }
    return serve(folder, listener);
}
