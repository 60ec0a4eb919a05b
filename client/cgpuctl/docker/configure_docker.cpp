// runtime configure for Docker.
#include "client/cgpuctl/docker/runtime.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include "client/cgpuctl/docker/docker_config.hpp"
#include "client/cgpuctl/docker/engine/docker_file.hpp"
#include "client/cgpuctl/docker/engine/docker_info.hpp"
#include "client/cgpuctl/docker/engine/docker_start.hpp"
#include "client/cgpuctl/docker/engine/engine_file.hpp"
#include "client/cgpuctl/docker/runtime_program.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::fail;
using Kind = ClientError::Kind;
using Clock = std::chrono::steady_clock;

/// How long a dockerd may take to read its file again.
constexpr std::chrono::seconds kReload{10};
constexpr std::chrono::milliseconds kPause{50};

bool is_ours(const DockerInfo& info, const char* name) {
    const auto found = info.runtimes.find(name);
    return found != info.runtimes.end() && is_cgpu_runtime(found->second);
}

bool has(const DockerInfo& info, const DockerWish& wish) {
    return is_ours(info, "cgpu") && (!wish.as_nvidia || is_ours(info, "nvidia")) &&
           (!wish.as_default || info.default_runtime == "cgpu");
}

bool has_nothing(const DockerInfo& info, const DockerWish&) {
    return !is_ours(info, "cgpu") && !is_ours(info, "nvidia") && info.default_runtime != "cgpu";
}

Result<void> tell(const RunningDocker& docker) {
    if (kill(docker.process.pid, SIGHUP) == 0) return {};
    return fail(Kind::failed, docker.name() + ": it can't be told to read its configuration again: " +
                                  std::strerror(errno) + ". Try: systemctl reload docker, as root.");
}

/// What it has in force, as soon as that is what is wanted, or when the time is over. Error (unreachable).
Result<DockerInfo> ask(const RunningDocker& docker, const DockerConfig& config, const DockerWish& wish,
                       bool (*is_wanted)(const DockerInfo&, const DockerWish&)) {
    const auto sockets = docker_sockets(docker, config);
    for (const auto end = Clock::now() + kReload;;) {
        auto info = ask_docker(sockets);
        if (!info || is_wanted(*info, wish) || Clock::now() >= end) return info;
        std::this_thread::sleep_for(kPause);
    }
}

Result<void> registers(const RunningDocker& docker, const DockerConfig& old, const DockerConfig& next,
                       const DockerWish& wish, Terminal& terminal) {
    if (auto told = tell(docker); !told) return told;
    const auto info = ask(docker, next, wish, &has);
    const std::string start = docker.file + ": it has the runtime cgpu (docker run --runtime=cgpu …); ";
    if (!info) {
        terminal.done(start + "dockerd has been told to read it again.");
        terminal.warning(docker.name() + ": it can't be asked whether it took the runtime: " +
                         info.error().text + ". Try: docker info.");
        return {};
    }
    if (has(*info, wish)) {
        terminal.done(start + "dockerd has been told to read it again, and now has: " + to_text(*info) + ".");
        return {};
    }
    // It would not start with the file either.
    DockerConfig back = old;
    back.is_restored = true;
    if (auto undone = write_docker_config(docker.file, back); !undone) return undone;
    (void)tell(docker);
    return fail(Kind::refused, docker.name() + ": it didn't take the runtime from " + docker.file +
                                   " and still has: " + to_text(*info) +
                                   ". The file is as it was. Try: journalctl -u docker, which says why.");
}

Result<void> removes(const RunningDocker& docker, const DockerConfig& old, const DockerConfig& next,
                     Terminal& terminal) {
    const DockerConfig meanwhile = while_removed(old);
    if (auto written = write_docker_config(docker.file, meanwhile); !written) return written;
    const auto told = tell(docker);
    const auto info =
        told ? ask(docker, meanwhile, {}, &has_nothing) : Result<DockerInfo>(tl::unexpected(told.error()));
    if (auto written = write_docker_config(docker.file, next); !written) return written;
    const std::string start = docker.file + ": the runtime cgpu is not in it any more; ";
    if (info && has_nothing(*info, {})) {
        terminal.done(start + "dockerd has been told to read it again, and now has: " + to_text(*info) + ".");
        return {};
    }
    terminal.done(start + "dockerd has been told to read it again.");
    terminal.warning(docker.name() + ": " +
                     (info ? "it still has: " + to_text(*info)
                           : "it can't be asked whether it has forgotten the runtime: " + info.error().text) +
                     ". Try: systemctl restart docker.");
    return {};
}

/// What is left to be written, beside the flags with which dockerd starts. Error (refused): it wouldn't
/// start, or read the file again, because a setting would be in both places. No wish: nothing is left.
Result<std::optional<DockerWish>> beside_flags(const DockerStart& start, DockerWish wish,
                                               const std::string& file) {
    const DockerFlags& flags = start.flags;
    const auto flag_is_ours = [&](const std::string& name) {
        const auto found = flags.runtimes.find(name);
        return found != flags.runtimes.end() && is_cgpu_runtime(found->second);
    };
    std::string missing;
    const auto add = [&](const std::string& flag) { missing += (missing.empty() ? "" : " ") + flag; };
    if (!flags.runtimes.empty() && !flag_is_ours("cgpu")) add("--add-runtime cgpu=" + wish.program);
    if (!flags.runtimes.empty() && wish.as_nvidia && !flag_is_ours("nvidia"))
        add("--add-runtime nvidia=" + wish.program);
    const bool has_default = flags.default_runtime.has_value();
    const bool default_is_ours =
        has_default && (*flags.default_runtime == "cgpu" || flag_is_ours(*flags.default_runtime));
    if (wish.as_default && !default_is_ours && (has_default || !flags.runtimes.empty()))
        add("--default-runtime cgpu");
    if (missing.empty()) {
        if (!flags.runtimes.empty()) return std::nullopt;
        wish.as_default = wish.as_default && !default_is_ours;
        return wish;
    }
    const std::string given = flags.runtimes.empty() || (flag_is_ours("cgpu") && has_default)
                                  ? "--default-runtime"
                                  : "--add-runtime";
    return fail(Kind::refused, start.name + ": it is started with " + given +
                                   ", and does not start any more if the same is in " + file +
                                   ", too; nothing was changed. Try: " +
                                   (missing.starts_with("--add-runtime") ? "add " : "set ") + missing +
                                   " in its flags (" + start.where +
                                   "), or move what they say of runtimes into the file and run this again.");
}

Result<void> check_view(const RunningDocker& docker, const std::string& program) {
    if (!docker.process.sees(docker.file, false))
        return fail(Kind::refused, docker.name() + ": it has mounts of its own, and the file " + docker.file +
                                       " is another one there; nothing was changed. Try: run cgpuctl where "
                                       "dockerd runs.");
    if (!docker.process.sees(program, true))
        return fail(
            Kind::refused,
            docker.name() + ": it has mounts of its own, as a snap has, and can't execute " + program +
                "; nothing was changed. Try: install Docker from your distribution's packages or from "
                "Docker's.");
    return {};
}

}  // namespace

Result<void> configure_docker(const RuntimeInput& input, Terminal& terminal) {
    const auto target = find_docker_file("runtime", input.file);
    if (!target) return tl::unexpected(target.error());
    const std::string& file = target->file;
    const auto old = read_docker_config(file);
    if (!old) return tl::unexpected(old.error());
    Result<DockerConfig> next = *old;
    DockerWish wish;
    if (input.remove) {
        next = without_runtime(*old);
    } else {
        const auto program = runtime_program();
        if (!program) return tl::unexpected(program.error());
        std::optional<DockerStart> start;
        if (target->docker) {
            if (auto seen = check_view(*target->docker, *program); !seen) return seen;
            start = DockerStart{target->docker->name(), "systemctl edit docker", target->docker->flags};
        } else if (is_same_file(file, kDockerFile)) {
            start = docker_service();
        }
        const auto left = beside_flags(start.value_or(DockerStart{}),
                                       {*program, input.as == "nvidia", input.make_default}, file);
        if (!left) return tl::unexpected(left.error());
        if (!*left) {
            terminal.done(start->name + ": it has the runtime cgpu by its flags; " + file +
                          " was not changed.");
            return {};
        }
        wish = **left;
        next = with_runtime(*old, wish);
        if (!next) return tl::unexpected(next.error());
    }
    if (input.dry_run) {
        terminal.done(file + ": " + (*next == *old ? "nothing would change" : "it would be changed") +
                      "; nothing was.");
        return {};
    }
    if (input.remove && *next == *old) {
        terminal.done(file + ": the runtime cgpu is not in it; there is nothing to undo.");
        return {};
    }
    const bool tells = target->docker && !input.no_reload;
    if (tells && input.remove) return removes(*target->docker, *old, *next, terminal);
    if (*next != *old)
        if (auto written = write_docker_config(file, *next); !written) return written;
    if (tells) return registers(*target->docker, *old, *next, wish, terminal);
    terminal.done(file + ": " +
                  (input.remove ? "the runtime cgpu is not in it any more"
                                : "it has the runtime cgpu (docker run --runtime=cgpu …)") +
                  (input.no_reload ? "; dockerd was not told."
                                   : "; no dockerd runs that reads it: one will when it starts."));
    return {};
}

}  // namespace cgpu::cgpuctl
