// runtime configure --for containerd: a table of cgpu's own in containerd's file.
#include "client/cgpuctl/docker/configure_containerd.hpp"

#include "client/cgpuctl/docker/containerd/containerd_config.hpp"
#include "client/cgpuctl/docker/engine_file.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr const char* kContainerdFile = "/etc/containerd/config.toml";
/// containerd reads its file at its start only. Containers go on meanwhile.
constexpr const char* kRestart = "Restart containerd to have it read: systemctl restart containerd.";

}  // namespace

Result<void> configure_containerd(const Input& input, const std::string& program, Terminal& terminal) {
    const std::string file = input.file.empty() ? kContainerdFile : input.file;
    const auto now = read_engine_file(file);
    if (!now) return tl::unexpected(now.error());
    const auto next = input.remove ? Result<std::string>(without_containerd_runtime(*now))
                                   : with_containerd_runtime(*now, program);
    if (!next) return client::fail(next.error().kind, file + ": " + next.error().text);
    if (input.dry_run) {
        terminal.done(file + ": " + (*now == *next ? "nothing would change" : "it would be changed") +
                      "; nothing was.");
        return {};
    }
    if (input.remove && *now == *next) {
        terminal.done(file + ": the runtime cgpu is not in it; there is nothing to undo.");
        return {};
    }
    if (*now != *next)
        if (auto done = next->empty() ? remove_engine_file(file) : write_engine_file(file, *next); !done)
            return done;
    if (!input.remove && imports_files(*next))
        terminal.warning(
            file +
            ": it imports other files, and a containerd before 2.0 takes one file's section of a "
            "plugin only. Try: containerd config dump, which shows whether it has the runtime cgpu.");
    terminal.done(file + ": " +
                  (input.remove ? "the runtime cgpu is not in it any more. " : "it has the runtime cgpu. ") +
                  kRestart);
    return {};
}

}  // namespace cgpu::cgpuctl
