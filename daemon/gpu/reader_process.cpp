#include "daemon/gpu/reader_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace cgpu::gpu {
namespace {

using model::Refusal;

tl::unexpected<Refusal> no_reader(const std::string& why, const std::string& remedy) {
    return model::refuse(Refusal::Reason::unsupported, "the reader of NVML", why, remedy);
}

/// The child starts with no signal blocked: cgpud blocks SIGTERM and others, which must end the child.
class SpawnSettings {
  public:
    explicit SpawnSettings(int socket) {
        posix_spawn_file_actions_init(&files_);
        posix_spawn_file_actions_adddup2(&files_, socket, STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&files_, socket, STDOUT_FILENO);
        posix_spawnattr_init(&attributes_);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attributes_, &none);
        posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    }
    ~SpawnSettings() {
        posix_spawnattr_destroy(&attributes_);
        posix_spawn_file_actions_destroy(&files_);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    /// An error number; 0: it runs.
    int start(const std::filesystem::path& program, pid_t& child) {
        std::string name = program.native();
        std::array<char*, 2> arguments{name.data(), nullptr};
        return posix_spawn(&child, name.c_str(), &files_, &attributes_, arguments.data(), environ);
    }

  private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
};

}  // namespace

ReaderProcess::ReaderProcess(std::filesystem::path socket, std::filesystem::path program)
    : socket_(std::move(socket)), program_(std::move(program)) {}

ReaderProcess::~ReaderProcess() { reap(); }

void ReaderProcess::reap() {
    std::erase_if(children_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
}

app::Result<int> ReaderProcess::start() { return socket_.empty() ? start_child() : connect_to_service(); }

app::Result<int> ReaderProcess::connect_to_service() const {
    const std::string path = socket_.native();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return no_reader(path + " is too long for the path of a socket",
                         "pass a shorter --nvml-socket to cgpud");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    const std::string why = std::strerror(errno);
    if (fd >= 0) close(fd);
    return no_reader("nothing answers at " + path + ": " + why, "systemctl start cgpu-nvml.socket");
}

app::Result<int> ReaderProcess::start_child() {
    reap();
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return no_reader(std::string("no socket can be made for it: ") + std::strerror(errno),
                         "give cgpud more descriptors (ulimit -n)");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);  // the child's end blocks
    pid_t child = 0;
    const int error = SpawnSettings(ends[1]).start(program_, child);
    close(ends[1]);
    if (error == 0) {
        children_.push_back(child);
        return ends[0];
    }
    close(ends[0]);
    return no_reader(program_.native() + " can't be started: " + std::strerror(error), "install cgpu again");
}

}  // namespace cgpu::gpu
