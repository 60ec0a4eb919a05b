#include "daemon/system/processes.hpp"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "daemon/system/pid_namespaces.hpp"
#include "daemon/system/proc_file.hpp"

namespace cgpu::system {
namespace {

using model::Refusal;

/// Field `number` (3 or later) of the text of /proc/PID/stat, as a number.
std::optional<std::uint64_t> field_in(std::string_view stat, int number) {
    auto at = stat.rfind(')');
    if (at == std::string_view::npos) return std::nullopt;
    // Behind the ")" comes a space and field 3.
    for (int field = 3; field <= number; ++field) {
        at = stat.find(' ', at + 1);
        if (at == std::string_view::npos) return std::nullopt;
    }
    std::uint64_t value = 0;
    const auto* begin = stat.data() + at + 1;
    const auto [end, error] = std::from_chars(begin, stat.data() + stat.size(), value);
    if (error != std::errc{} || end == begin) return std::nullopt;
    return value;
}

/// A zombie holds nothing any more, unless only its main thread has ended: then the others go on.
bool has_ended(std::string_view stat) {
    const auto name_end = stat.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return true;
    const char state = stat[name_end + 2];
    const auto threads = field_in(stat, 20);
    return state == 'X' || (state == 'Z' && (!threads || *threads <= 1));
}

/// How often a process is looked at for which no pidfd could be had.
constexpr app::Nanos kLookEvery = 200'000'000;

/// Waits on a pidfd or, while there are no descriptors left for one, looks now and then.
class EndWatch final : public app::Watch {
  public:
    EndWatch(app::Loop& loop, Processes& processes, model::Process process, std::function<void()> call)
        : loop_(loop), processes_(processes), process_(std::move(process)), call_(std::move(call)) {
        begin();
    }
    ~EndWatch() override { stop(); }
    EndWatch(const EndWatch&) = delete;
    EndWatch& operator=(const EndWatch&) = delete;

  private:
    void begin() {
        fd_ = static_cast<int>(syscall(SYS_pidfd_open, process_.pid, 0));
        // The descriptor is taken first and the name compared afterwards, so a reused pid can't slip in
        // between.
        if (!processes_.alive(process_))
            watch_ = loop_.at(loop_.now(), [this] { ended(); });
        else if (fd_ >= 0)
            watch_ = loop_.watch(fd_, EPOLLIN, [this](std::uint32_t) { ended(); });
        else
            watch_ = loop_.at(loop_.now() + kLookEvery, [this] { begin(); });
    }

    void ended() {
        stop();
        // Called last: it may destroy this watch.
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

app::Result<model::Process> Processes::identify(std::int32_t pid) {
    const auto name = "process " + std::to_string(pid);
    const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
    if (stat && pid > 0) {
        const auto start = start_time_in(*stat);
        if (start && !has_ended(*stat)) return model::Process{pid, *start, boot_id_};
    }
    if (!stat && stat.error() != ENOENT && stat.error() != ESRCH)
        return model::refuse(Refusal::Reason::busy, name,
                             std::string("it can't be looked at: ") + strerror(stat.error()),
                             "again in a while");
    return model::refuse(Refusal::Reason::not_found, name, "there is no such process on this host",
                         "give the pid as the host sees it");
}

bool Processes::alive(const model::Process& process) {
    const auto now = identify(process.pid);
    // One that can't be looked at (no descriptors left) may well live: nothing of its may be taken away.
    return now ? *now == process : now.error().reason == Refusal::Reason::busy;
}

app::PidPlace Processes::pid_place(const model::Process& process) {
    auto place = read_pid_place(process.pid);
    // Looked at afterwards: what was read may have been another process's with the same pid.
    return alive(process) ? place : app::PidPlace{};
}

app::WatchPtr Processes::on_exit(const model::Process& process, std::function<void()> call) {
    return std::make_unique<EndWatch>(loop_, *this, process, std::move(call));
}

}  // namespace cgpu::system
