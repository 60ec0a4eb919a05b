// logs: where the output of an instance is.
#include <sys/stat.h>

#include <unistd.h>
#include <array>
#include <cerrno>

#include "client/cgpuctl/base/instance_meant.hpp"
#include "client/cgpuctl/instances/place.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Instance;
using client::Result;
using Kind = client::ClientError::Kind;

/// Where the output of a job's first process goes: its descriptor 1.
Result<std::string> output_of_job(const Instance& job) {
    const std::string path = "/proc/" + std::to_string(job.pid) + "/fd/1";
    std::array<char, 4096> target{};
    const auto length = readlink(path.c_str(), target.data(), target.size());
    const std::string name = word_for(job.name, job.id);
    if (length < 0 && (errno == EACCES || errno == EPERM))
        return client::fail(Kind::not_authorized,
                            shown_name(job.name, job.id) +
                                ": only its user and root may see where its output goes. Try: sudo "
                                "cgpuctl logs " +
                                name + ".");
    if (length < 0)
        return client::fail(Kind::failed,
                            shown_name(job.name, job.id) +
                                ": it can't be seen where its output goes, because its first process "
                                "has ended or has closed it. Try: cgpuctl ps " +
                                name + ".");
    const std::string to(target.data(), static_cast<std::size_t>(length));
    const std::string journal = journal_of(cgroups_of(job.pid));
    if (to.starts_with("socket:") && !journal.empty()) return journal;
    if (to.starts_with("socket:")) return "journalctl _PID=" + std::to_string(job.pid);
    const std::string begin = "# " + shown_name(job.name, job.id) + ": ";
    if (to.starts_with("pipe:"))
        return begin + "process " + std::to_string(job.pid) +
               " writes into a pipe, to the program that started it";
    if (to.starts_with("/dev/pts/") || to.starts_with("/dev/tty"))
        return begin + "process " + std::to_string(job.pid) + " writes to the terminal " + printable(to) +
               ", and nobody keeps it";
    struct stat file {};
    if (stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink > 0)
        return "tail -f " + model::shell_word(to);
    return begin + "process " + std::to_string(job.pid) + " writes to " + printable(to) +
           ", and nobody keeps it";
}

}  // namespace

Result<void> logs_verb(const LogsInput& input, client::Node& node, Terminal& terminal) {
    const auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    const auto meant = instance_meant(*snapshot, input.instance, said_by(input), node);
    if (!meant) return tl::unexpected(meant.error());
    const Instance& instance = **meant;
    if (is_container(instance)) {
        terminal.out() << engine_command("logs", instance) << '\n';
        return {};
    }
    if (instance.state == "reserved")
        return client::fail(Kind::refused, shown_name(instance.name, instance.id) +
                                               ": it is a reservation, and no process lives with it. Try: "
                                               "cgpuctl list, for the instances that run.");
    if (instance.pid == 0)
        return client::fail(Kind::refused, shown_name(instance.name, instance.id) +
                                               ": it has no process yet. Try: wait until it "
                                               "runs, or " +
                                               engine_command("logs", instance) + ".");
    const auto where = output_of_job(instance);
    if (!where) return tl::unexpected(where.error());
    terminal.out() << *where << '\n';
    return {};
}

}  // namespace cgpu::cgpuctl
