// runtime configure --for podman: a file of cgpu's own among those that Podman reads.
#include "client/cgpuctl/docker/runtime.hpp"

#include <filesystem>

#include "client/cgpuctl/docker/engine/engine_file.hpp"
#include "client/cgpuctl/docker/podman_config.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;

/// Podman's files but cgpu's own, in the order in which it reads them. Error: one can't be read, and what it
/// lists would be lost.
Result<std::vector<PodmanFile>> files_of_others() {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(kPodmanDropIns, none))
        names.push_back(entry.path().filename());
    std::vector<PodmanFile> files;
    for (const std::string& file : podman_files(std::move(names))) {
        if (file == kPodmanFile) continue;
        auto text = read_engine_file(file);
        if (!text) return tl::unexpected(text.error());
        files.push_back({file, std::move(*text)});
    }
    return files;
}

}  // namespace

Result<void> configure_podman(const RuntimeInput& input, const std::string& program, Terminal& terminal) {
    const auto now = read_engine_file(kPodmanFile);
    if (!now) return tl::unexpected(now.error());
    const auto others = files_of_others();
    if (!others) return tl::unexpected(others.error());
    std::vector<std::string> texts;
    for (const PodmanFile& file : *others) texts.push_back(file.text);
    const std::string next =
        input.remove ? "" : podman_config(runtimes_with_json(texts), program, input.make_default);
    // Later files win.
    const auto winner = input.make_default ? later_default(*others) : std::nullopt;
    if (winner)
        return client::fail(ClientError::Kind::refused,
                            winner->path + ": Podman reads it after " + kPodmanFile +
                                ", and its runtime is " + model::quote(winner->text) +
                                ", which would win; nothing was changed. Try: take runtime out of it, or "
                                "cgpuctl runtime configure --for podman, and podman --runtime cgpu run.");
    const std::string start = std::string(kPodmanFile) + ": ";
    if (input.dry_run) {
        terminal.done(start + (*now == next ? "nothing would change" : "it would be changed") +
                      "; nothing was.");
        return {};
    }
    if (*now != next)
        if (auto done = input.remove ? remove_engine_file(kPodmanFile) : write_engine_file(kPodmanFile, next);
            !done)
            return done;
    if (input.remove)
        terminal.done(start +
                      (now->empty() ? "it is not there; there is nothing to undo." : "it is removed."));
    else
        terminal.done(
            start +
            "it has the runtime cgpu (podman --runtime cgpu run …); Podman reads it at its next start.");
    return {};
}

}  // namespace cgpu::cgpuctl
