// stop: ends the processes of instances.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "client/cgpuctl/instances/held.hpp"
#include "client/cgpuctl/instances/meant.hpp"
#include "client/cgpuctl/instances/place.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/instances/withdraw.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "client/cgpuctl/output/values.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Instance;
using client::Result;
using Clock = std::chrono::steady_clock;
using Kind = client::ClientError::Kind;
using std::chrono::milliseconds;

constexpr std::uint32_t kDefaultGrace = 10;  // seconds
constexpr std::uint32_t kLongestGrace = 86400;
/// The end of an instance is signalled, and so is that of a process; a process that was just started isn't.
constexpr milliseconds kBetweenReadings{500};
/// What doesn't end by SIGKILL within this time is stuck in the kernel, or others of the instance come after
/// it.
constexpr std::chrono::seconds kKillingTakes{30};

std::string title(const Instance& instance) { return shown_name(instance.name, instance.id); }

/// Whose the process is, as far as it is known.
std::string owner_of(std::uint32_t pid, const Instance& instance, UserNames& users) {
    for (const client::Process& process : instance.processes)
        if (process.pid == pid && process.uid) return users.of(*process.uid);
    return instance.owner ? users.of(*instance.owner) : "another user";
}

bool is_of_roots_engine(const Instance& instance) { return !instance.owner && is_container(instance); }

/// A process of it may not be signalled by this user, and cgpud refuses to do it, too.
tl::unexpected<client::ClientError> may_not(std::uint32_t pid, const Instance& instance,
                                            const client::ClientError& by_cgpud) {
    if (by_cgpud.kind == Kind::unreachable) return tl::unexpected(by_cgpud);
    const std::string unsupported =
        by_cgpud.reason == "Unsupported" ? ", or let cgpud do it by kill.conf, see cgpud(8)" : "";
    if (is_of_roots_engine(instance))
        return client::fail(Kind::not_authorized,
                            title(instance) +
                                ": it is a container of root's engine, and only root may end "
                                "its processes. Try: " +
                                engine_command("stop", instance) + unsupported + ".");
    UserNames users(true);
    const std::string remedy = "sudo cgpuctl stop " + word_for(instance.name, instance.id);
    return client::fail(
        Kind::not_authorized,
        title(instance) + ": user " + users.of(geteuid()) + " may not signal its process " +
            std::to_string(pid) + ", which is of " + owner_of(pid, instance, users) + ". Try: " + remedy +
            (is_container(instance) ? ", or " + engine_command("stop", instance) : "") + unsupported + ".");
}

/// Error: nothing can be stopped.
Result<void> check(const Instance& instance, const client::Snapshot& snapshot) {
    if (!pids_of(instance, snapshot).empty()) return {};
    return client::fail(Kind::refused,
                        title(instance) + ": cgpud knows no process of it yet. Try: wait until it runs, or " +
                            engine_command("stop", instance) + ".");
}

class Stopping {
  public:
    Stopping(std::vector<Instance> wanted, client::Node& node, Terminal& terminal)
        : wanted_(std::move(wanted)), node_(node), terminal_(terminal) {
        for (const Instance& instance : wanted_) left_.insert(instance.id);
    }

    /// Opens the processes, and has cgpud stop those instances that this user may not signal. Error: it
    /// refuses, too; then nobody was signalled.
    Result<void> prepare(std::chrono::seconds grace, bool dry_run) {
        auto there = held_.take(left_, node_);
        if (!there) return tl::unexpected(there.error());
        std::map<std::string, std::uint32_t> not_by_us;  // and a process of each
        for (const auto& [pid, held] : held_.all())
            if (send(held, 0) == EPERM) not_by_us.emplace(held.instance, pid);
        if (geteuid() != 0)
            for (const Instance& instance : wanted_)
                if (is_of_roots_engine(instance)) not_by_us.emplace(instance.id, instance.pid);
        // Each question may take a password, so there is no dry run before the only one.
        if (not_by_us.size() > 1 && !dry_run)
            for (const auto& [id, pid] : not_by_us)
                if (auto could = let_cgpud(id, pid, grace, true); !could) return could;
        for (const auto& [id, pid] : not_by_us)
            if (auto done = let_cgpud(id, pid, grace, dry_run); !done) return done;
        return {};
    }

    void tell_what_would_be_done() {
        UserNames users(true);
        for (const Instance& instance : wanted_) {
            std::string processes;
            for (const auto& [pid, held] : held_.all()) {
                if (held.instance != instance.id) continue;
                const auto known = std::ranges::find(instance.processes, pid, &client::Process::pid);
                processes +=
                    (processes.empty() ? "" : ", ") +
                    (known == instance.processes.end() ? std::to_string(pid) : process_text(*known, users));
            }
            terminal_.done(title(instance) + ": it could be stopped" +
                           (by_cgpud_.contains(instance.id) ? " by cgpud: " : ": ") + processes +
                           "; nothing was changed.");
        }
    }

    /// Until all are gone.
    Result<void> stop(std::chrono::seconds grace, client::Watch& watch) {
        const auto kill_at = Clock::now() + grace;
        for (bool first = true;; first = false) {
            // What prepare() has opened is signalled first.
            if (!first)
                if (auto read = read_again(); !read) return read;
            if (left_.empty()) return {};
            held_.look();
            const auto now = Clock::now();
            const auto rest = std::chrono::ceil<std::chrono::seconds>(std::max(kill_at - now, {}));
            if (auto sent = signal(now >= kill_at, rest); !sent) return sent;
            if (now >= kill_at + kKillingTakes) return stuck();
            auto pause = kBetweenReadings;
            if (now < kill_at) pause = std::min(pause, std::chrono::ceil<milliseconds>(kill_at - now));
            watch.wait(held_.fd(), pause);
        }
    }

  private:
    [[nodiscard]] const Instance& of(const std::string& id) const {
        return *std::ranges::find(wanted_, id, &Instance::id);
    }

    Result<void> let_cgpud(const std::string& id, std::uint32_t pid, std::chrono::seconds grace,
                           bool dry_run) {
        const auto stopped = node_.stop(id, static_cast<std::uint32_t>(grace.count()), dry_run);
        if (!stopped && stopped.error().kind != Kind::not_found) return may_not(pid, of(id), stopped.error());
        by_cgpud_.insert(id);
        return {};
    }

    /// A daemon that is away for a moment is no reason to stop: what is held can be signalled without it.
    Result<void> read_again() {
        auto there = held_.take(left_, node_);
        away_.reset();
        if (!there && there.error().kind == Kind::unreachable) {
            away_ = there.error();
            return {};
        }
        if (!there) return tl::unexpected(there.error());
        for (const Instance& instance : wanted_)
            if (left_.contains(instance.id) && !there->contains(instance.id)) tell_end(instance);
        left_ = std::move(*there);
        return {};
    }

    void tell_end(const Instance& instance) {
        const auto killed =
            static_cast<std::size_t>(std::ranges::count_if(held_.all(), [&](const auto& each) {
                return each.second.instance == instance.id && each.second.killed;
            }));
        std::string how = ".";
        if (by_cgpud_.contains(instance.id))
            how = "; cgpud has sent the signals.";
        else if (killed > 0)
            how = "; " + std::to_string(killed) + " of its processes were killed.";
        terminal_.done(title(instance) + ": stopped" + how);
        terminal_.out().flush();
    }

    /// Each process gets each signal once.
    Result<void> signal(bool kill, std::chrono::seconds rest) {
        for (auto& [pid, held] : held_.all()) {
            bool& done = kill ? held.killed : held.asked;
            if (held.ended || done || by_cgpud_.contains(held.instance)) continue;
            const int error = send(held, kill ? SIGKILL : SIGTERM);
            if (error == EPERM) {
                // It has come later than the others.
                if (auto asked = let_cgpud(held.instance, pid, rest, false); !asked) return asked;
                continue;
            }
            const Instance& its = of(held.instance);
            if (error != 0 && error != ESRCH)
                return client::fail(Kind::failed, title(its) + ": its process " + std::to_string(pid) +
                                                      " can't be signalled: " + std::strerror(error) +
                                                      ". Try: " + engine_command("stop", its) + ".");
            done = error == 0;
        }
        return {};
    }

    [[nodiscard]] tl::unexpected<client::ClientError> stuck() const {
        if (away_) return tl::unexpected(*away_);
        std::string names;
        for (const Instance& instance : wanted_)
            if (left_.contains(instance.id)) names += (names.empty() ? "" : ", ") + title(instance);
        return client::fail(Kind::failed, names +
                                              ": still there after SIGKILL to all processes that are known. "
                                              "Try: cgpuctl show, and ps for their state (D: it waits in "
                                              "the kernel).");
    }

    std::vector<Instance> wanted_;
    client::Node& node_;
    Terminal& terminal_;
    std::set<std::string> left_;
    std::set<std::string> by_cgpud_;  ///< of these, those whose processes cgpud signals
    HeldProcesses held_;
    std::optional<client::ClientError> away_;  ///< why the node couldn't be read last
};

}  // namespace

Result<void> stop_verb(const StopInput& input, client::Node& node, Terminal& terminal) {
    std::uint32_t grace = kDefaultGrace;
    if (!input.grace.empty()) {
        const auto read = read_count_in("grace", input.grace, 0, kLongestGrace);
        if (!read) return tl::unexpected(read.error());
        grace = *read;
    }
    const auto watch = node.watch_instances();
    if (!watch) return tl::unexpected(watch.error());
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto words = withdraw(*snapshot, input, node, terminal);
    if (!words) return tl::unexpected(words.error());
    if (words->empty()) return {};
    auto wanted = instances_meant(*snapshot, *words, said_to_change(input), node);
    if (!wanted) return tl::unexpected(wanted.error());
    for (const Instance& instance : *wanted)
        if (auto good = check(instance, *snapshot); !good) return good;
    Stopping stopping(std::move(*wanted), node, terminal);
    if (auto prepared = stopping.prepare(std::chrono::seconds(grace), input.dry_run); !prepared)
        return prepared;
    if (input.dry_run) {
        stopping.tell_what_would_be_done();
        return {};
    }
    return stopping.stop(std::chrono::seconds(grace), **watch);
}

}  // namespace cgpu::cgpuctl
