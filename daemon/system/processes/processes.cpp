#include "daemon/system/processes/processes.hpp"

#include <linux/capability.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include "daemon/system/processes/cgroup.hpp"
#include "daemon/system/processes/exit_info.hpp"
#include "daemon/system/processes/mount_search.hpp"
#include "daemon/system/processes/pid_namespaces.hpp"
#include "daemon/system/processes/proc_file.hpp"
#include "daemon/system/processes/process_look.hpp"

namespace cgpu::system {
namespace {

using model::Refusal;

/// The state letter of proc(5); NUL if the text is not that of a process.
char state_in(std::string_view stat) {
    const auto name_end = stat.rfind(')');
    return name_end == std::string_view::npos || name_end + 2 >= stat.size() ? '\0' : stat[name_end + 2];
}

/// A zombie holds nothing any more, unless only its main thread has ended: then its other threads continue.
bool has_ended(std::string_view stat) {
    const char state = state_in(stat);
    const auto threads = field_in(stat, 20);
    return state == '\0' || state == 'X' || (state == 'Z' && (!threads || *threads <= 1));
}

/// Poll interval for a process without a pidfd.
constexpr app::Nanos kLookEvery = 200'000'000;

/// Waits on a pidfd, or polls while no pidfd can be opened or watched.
class EndWatch final : public app::Watch {
  public:
    EndWatch(app::Loop& loop, Processes& processes, model::Process process, std::function<void()> call)
        : loop_(loop), processes_(processes), process_(std::move(process)), call_(std::move(call)) {
        begin();
    }
    ~EndWatch() override { stop(); }
    EndWatch(const EndWatch&) = delete;
    EndWatch& operator=(const EndWatch&) = delete;

    [[nodiscard]] bool killed() const override { return fd_ >= 0 && was_killed(fd_); }

  private:
    void begin() {
        fd_ = static_cast<int>(syscall(SYS_pidfd_open, process_.pid, 0));
        // The descriptor is opened first and the identity compared afterwards, so a reused pid can't be
        // mistaken for the process.
        if (!processes_.alive(process_)) {
            stop();  // the descriptor may be another one's
            watch_ = loop_.at(loop_.now(), [this] { ended(); });
        } else if (!watch_descriptor()) {
            watch_ = loop_.at(loop_.now() + kLookEvery, [this] { begin(); });
        }
    }

    bool watch_descriptor() {
        if (fd_ < 0) return false;
        try {
            watch_ = loop_.watch(fd_, EPOLLIN, [this](std::uint32_t) { ended(); });
            return true;
        } catch (const std::system_error&) {
            // The kernel limits how many descriptors a user watches.
            close(std::exchange(fd_, -1));
            return false;
        }
    }

    void ended() {
        // The descriptor stays: it tells how the process ended.
        watch_.reset();
        // Called last, because it may destroy this watch.
        const auto call = std::exchange(call_, nullptr);
        if (call) call();
    }

    void stop() {
        watch_.reset();
        if (fd_ >= 0) close(std::exchange(fd_, -1));
    }

    app::Loop& loop_;
    Processes& processes_;
    model::Process process_;
    std::function<void()> call_;
    int fd_ = -1;
    app::WatchPtr watch_;
};

}  // namespace

std::optional<std::uint64_t> start_time_in(std::string_view stat) { return field_in(stat, 22); }

Processes::Processes(app::Loop& loop)
    : loop_(loop), boot_id_(read_text("/proc/sys/kernel/random/boot_id").value_or("")) {
    while (!boot_id_.empty() && boot_id_.back() == '\n') boot_id_.pop_back();
}

std::optional<std::uint32_t> effective_user_in(std::string_view status) {
    constexpr std::string_view kLine = "\nUid:\t";
    const auto line = status.find(kLine);
    if (line == std::string_view::npos) return std::nullopt;
    const auto real = line + kLine.size();
    const auto tab = status.find('\t', real);
    if (tab == std::string_view::npos) return std::nullopt;
    std::uint32_t user = 0;
    const auto [end, error] = std::from_chars(status.data() + tab + 1, status.data() + status.size(), user);
    return error == std::errc() ? std::optional(user) : std::nullopt;
}

app::Result<model::Process> Processes::identify(std::int32_t pid) {
    const auto name = "process " + std::to_string(pid);
    const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
    if (stat && pid > 0) {
        const auto start = start_time_in(*stat);
        if (start && !has_ended(*stat)) return model::Process{pid, *start, boot_id_};
    }
    // kill() with signal 0 tells whether there is a process that /proc doesn't show.
    const bool hidden = !stat && stat.error() == ENOENT && pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
    if (hidden && !read_text("/proc/" + std::to_string(pid) + "/stat"))
        return model::refuse(Refusal::Reason::busy, name,
                             "/proc doesn't show it to cgpud: it is mounted with hidepid=",
                             "set gid=GROUP beside hidepid= where /proc is mounted, and "
                             "SupplementaryGroups=GROUP for cgpud, see cgpud(8)");
    if (!stat && stat.error() != ENOENT && stat.error() != ESRCH)
        return model::refuse(Refusal::Reason::busy, name,
                             std::string("it can't be looked at: ") + strerror(stat.error()),
                             "try the same again in a while");
    return model::refuse(Refusal::Reason::not_found, name, "there is no such process on this host",
                         "give the pid as the host sees it");
}

bool Processes::alive(const model::Process& process) {
    const auto now = identify(process.pid);
    // A process that can't be examined (no descriptors left) may still be alive: nothing of it may be
    // released.
    return now ? *now == process : now.error().reason == Refusal::Reason::busy;
}

std::optional<std::uint32_t> Processes::user_of(const model::Process& process) {
    const auto status = read_text("/proc/" + std::to_string(process.pid) + "/status");
    const auto user = status ? effective_user_in(*status) : std::nullopt;
    return alive(process) ? user : std::nullopt;
}

app::ProcessOwner Processes::owner_of(const model::Process& process) {
    constexpr std::size_t kLongest = 4096;
    const auto folder = "/proc/" + std::to_string(process.pid);
    const auto status = read_text(folder + "/status", kLongest);
    auto command = read_text(folder + "/comm", kLongest);
    if (!status || !command || !alive(process)) return {};
    if (command->ends_with('\n')) command->pop_back();
    return {effective_user_in(*status), *command};
}

std::int32_t Processes::parent_of(const model::Process& process) {
    const auto stat = read_text("/proc/" + std::to_string(process.pid) + "/stat");
    const auto parent = stat ? field_in(*stat, 4) : std::nullopt;
    return parent && start_time_in(*stat) == process.start_time ? static_cast<std::int32_t>(*parent) : 0;
}

app::PidPlace Processes::pid_place(const model::Process& process) {
    auto place = read_pid_place(process.pid);
    // Checked afterwards: the text may have been that of another process with the same pid.
    return alive(process) ? place : app::PidPlace{};
}

app::WatchPtr Processes::on_exit(const model::Process& process, std::function<void()> call) {
    return std::make_unique<EndWatch>(loop_, *this, process, std::move(call));
}

bool Processes::sees(const model::Process& process, const std::filesystem::path& folder) {
    return ProcessLook(*this, process).sees(folder);
}

app::WatchPtr Processes::find_first_to_see(const std::filesystem::path& folder,
                                           std::vector<model::Process> others, app::FoundProcess call) {
    return std::make_unique<MountSearch>(loop_, *this, folder, std::move(others), std::move(call));
}

bool Processes::descends(const model::Process& process, const model::Process& ancestor) {
    return ProcessLook(*this, process).descends(ancestor);
}

std::unique_ptr<app::ProcessLook> Processes::look_at(const model::Process& process) {
    return std::make_unique<ProcessLook>(*this, process);
}

std::string Processes::cgroup_made_for(const model::Process& process, std::string_view id) {
    const auto text = read_text("/proc/" + std::to_string(process.pid) + "/cgroup").value_or("");
    return alive(process) ? system::cgroup_made_for(text, id) : std::string();
}

bool Processes::stopped(const model::Process& process) {
    const auto stat = read_text("/proc/" + std::to_string(process.pid) + "/stat").value_or("");
    const auto state = state_in(stat);
    return (state == 'T' || state == 't') && start_time_in(stat) == process.start_time;
}

bool Processes::may_kill_others() {
    const auto status = read_text("/proc/self/status").value_or("");
    constexpr std::string_view kLine = "\nCapEff:\t";
    const auto at = status.find(kLine);
    if (at == std::string::npos) return false;
    std::uint64_t capabilities = 0;
    std::from_chars(status.data() + at + kLine.size(), status.data() + status.size(), capabilities, 16);
    return (capabilities >> CAP_KILL & 1) != 0;
}

bool Processes::runs_for(const model::Process& process, std::uint32_t user) {
    // In another namespace no process has a right over the host's, whatever ids it has there.
    const auto ids = read_text("/proc/" + std::to_string(process.pid) + "/uid_map");
    const auto own = read_text("/proc/self/uid_map");
    const auto runs_as = user_of(process);  // checked afterwards: the text may have been another process's
    return runs_as && (*runs_as == user || (ids && own && !ids->empty() && *ids != *own));
}

app::Result<void> Processes::signal(const model::Process& process, app::Signal signal) {
    const int number = signal == app::Signal::kill ? SIGKILL : SIGTERM;
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
    // The identity is compared while the descriptor is held, so no other process can be hit.
    const bool sent =
        fd >= 0 && (!alive(process) || syscall(SYS_pidfd_send_signal, fd, number, nullptr, 0) == 0);
    const int error = errno;
    if (fd >= 0) close(fd);
    if (sent || error == ESRCH) return {};
    return model::refuse(Refusal::Reason::unsupported, "process " + std::to_string(process.pid),
                         std::string("it can't be ") +
                             (signal == app::Signal::kill ? "killed: " : "asked to end: ") + strerror(error),
                         "give cgpud CAP_KILL by kill.conf, see cgpud(8)");
}

}  // namespace cgpu::system
