#include "client/cgpuctl/doctor/base/in_time.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/descriptor.hpp"

namespace cgpu::cgpuctl::doctor {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// After its findings: without it, the process has ended before it had told all of them.
constexpr char kEnd = '.';

void add_text(std::string& to, const std::string& text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    to.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

std::string encoded(const Findings& findings) {
    std::string all;
    for (const Finding& finding : findings) {
        all += static_cast<char>('0' + static_cast<int>(finding.level));
        for (const auto* text : {&finding.check, &finding.what, &finding.why, &finding.fix})
            add_text(all, *text);
    }
    return all + kEnd;
}

/// The other side is this program: only a text that was cut off is looked for.
std::optional<Findings> decoded(std::string_view all) {
    if (!all.ends_with(kEnd)) return std::nullopt;
    Findings findings;
    while (all.size() > 1) {
        Finding& finding = findings.emplace_back();
        finding.level = static_cast<Level>(all.front() - '0');
        all.remove_prefix(1);
        for (auto* text : {&finding.check, &finding.what, &finding.why, &finding.fix}) {
            std::uint32_t size = 0;
            if (all.size() < sizeof size) return std::nullopt;
            std::memcpy(&size, all.data(), sizeof size);
            all.remove_prefix(sizeof size);
            if (all.size() < size) return std::nullopt;
            *text = all.substr(0, size);
            all.remove_prefix(size);
        }
    }
    return findings;
}

/// Nothing of what this process has is flushed or destroyed twice.
[[noreturn]] void run(const std::function<Findings()>& check, int out, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    std::string said;
    try {
        said = encoded(check());
    } catch (const std::exception&) {
        _exit(1);
    }
    for (std::string_view rest = said; !rest.empty();) {
        const ssize_t written = write(out, rest.data(), rest.size());
        if (written < 0 && errno != EINTR) _exit(1);
        if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    }
    _exit(0);
}

/// What it has said by the end of its side, or the deadline.
std::string read_until(int from, Clock::time_point until) {
    std::string said;
    std::array<char, 4096> part{};
    for (;;) {
        const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now()).count();
        pollfd entry{from, POLLIN, 0};
        const int ready = left <= 0 ? 0 : poll(&entry, 1, static_cast<int>(left) + 1);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return said;
        const ssize_t got = read(from, part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return said;
        said.append(part.data(), static_cast<std::size_t>(got));
    }
}

/// A process that waits for a disk can't be killed before that answers: it isn't waited for.
void end(pid_t process) {
    kill(-process, SIGKILL);
    kill(process, SIGKILL);
    constexpr int kTries = 100;
    for (int i = 0; i < kTries && waitpid(process, nullptr, WNOHANG) == 0; ++i)
        std::this_thread::sleep_for(milliseconds(10));
}

Finding not_made(const char* name, const std::string& why) {
    return unchecked(name, "this check can't be made", why);
}

}  // namespace

Findings in_time(milliseconds deadline, const char* name, const std::function<Findings()>& check) {
    const auto until = Clock::now() + deadline;
    std::array<int, 2> both{};
    if (pipe2(both.data(), O_CLOEXEC) != 0) return {not_made(name, std::generic_category().message(errno))};
    const Descriptor from(both[0]);
    Descriptor out(both[1]);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) return {not_made(name, std::generic_category().message(errno))};
    if (child == 0) run(check, out.fd(), parent);
    setpgid(child, child);
    out = Descriptor();
    const std::string said = read_until(from.fd(), until);
    const bool late = Clock::now() >= until;
    end(child);
    if (auto findings = decoded(said)) return std::move(*findings);
    if (!late)
        return {{Level::problem, name, "this check broke off", "nothing is known of it",
                 "report it as a bug of cgpuctl"}};
    return {{Level::problem, name,
             "this check did not end within " + std::to_string(deadline.count() / 1000) + " seconds",
             "a file system or a program that it asks does not answer, so nothing is known of it",
             "look for what hangs: ls in each folder that mount shows, and systemctl status"}};
}

}  // namespace cgpu::cgpuctl::doctor
