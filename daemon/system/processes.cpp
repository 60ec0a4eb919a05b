#include "daemon/system/processes.hpp"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace cgpu::system {
namespace {

using model::Refusal;

std::string read_text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A zombie has ended: it holds nothing any more.
bool has_ended(std::string_view stat) {
    const auto name_end = stat.rfind(')');
    return name_end == std::string_view::npos || name_end + 2 >= stat.size() || stat[name_end + 2] == 'Z' ||
           stat[name_end + 2] == 'X';
}

class PidWatch final : public app::Watch {
  public:
    explicit PidWatch(int fd) : fd_(fd) {}
    ~PidWatch() override {
        watch.reset();
        if (fd_ >= 0) close(fd_);
    }
    PidWatch(const PidWatch&) = delete;
    PidWatch& operator=(const PidWatch&) = delete;

    app::WatchPtr watch;

  private:
    int fd_;
};

}  // namespace

std::optional<std::uint64_t> start_time_in(std::string_view stat) {
    auto at = stat.rfind(')');
    if (at == std::string_view::npos) return std::nullopt;
    // Behind the ")" comes a space and field 3.
    for (int field = 3; field <= 22; ++field) {
        at = stat.find(' ', at + 1);
        if (at == std::string_view::npos) return std::nullopt;
    }
    std::uint64_t value = 0;
    const auto* begin = stat.data() + at + 1;
    const auto [end, error] = std::from_chars(begin, stat.data() + stat.size(), value);
    if (error != std::errc{} || end == begin) return std::nullopt;
    return value;
}

Processes::Processes(app::Loop& loop) : loop_(loop), boot_id_(read_text("/proc/sys/kernel/random/boot_id")) {
    while (!boot_id_.empty() && boot_id_.back() == '\n') boot_id_.pop_back();
}

app::Result<model::Process> Processes::identify(std::int32_t pid) {
    const auto name = "process " + std::to_string(pid);
    if (pid > 0) {
        const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
        const auto start = start_time_in(stat);
        if (start && !has_ended(stat)) return model::Process{pid, *start, boot_id_};
    }
    return model::refuse(Refusal::Reason::not_found, name, "there is no such process on this host",
                         "give the pid as the host sees it");
}

bool Processes::alive(const model::Process& process) {
    const auto now = identify(process.pid);
    return now && *now == process;
}

app::WatchPtr Processes::on_exit(const model::Process& process, std::function<void()> call) {
    const int fd = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
    auto owner = std::make_unique<PidWatch>(fd);
    // The descriptor is taken first and the name compared afterwards, so a reused pid can't slip in between.
    if (fd >= 0 && alive(process)) {
        owner->watch =
            loop_.watch(fd, EPOLLIN, [owner_watch = owner.get(), call = std::move(call)](std::uint32_t) {
                // Copied: the watch that holds this call goes away first, so that it fires once.
                const auto call_once = call;
                owner_watch->watch.reset();
                call_once();
            });
    } else {
        owner->watch = loop_.at(loop_.now(), std::move(call));
    }
    return owner;
}

}  // namespace cgpu::system
