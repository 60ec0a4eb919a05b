// runtime configure --for containerd: a table of cgpu's own in containerd's file.
#include "client/cgpuctl/docker/runtime.hpp"

#include <filesystem>

#include "client/cgpuctl/docker/containerd/containerd_config.hpp"
#include "client/cgpuctl/docker/containerd/containerd_start.hpp"
#include "client/cgpuctl/docker/containerd/toml_tables.hpp"
#include "client/cgpuctl/docker/engine/engine_file.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;
using Kind = ClientError::Kind;

bool exists(const std::string& file) {
    std::error_code none;
    return fs::exists(file, none);
}

struct Target {
    std::string file;
    bool runs = false;  ///< a containerd that reads it
};

Result<Target> find_target(const std::string& named) {
    const auto all = running_containerds();
    const std::string file = named.empty() ? kContainerdFile : named;
    for (const RunningContainerd& each : all)
        if (is_same_file(each.file, file)) return Target{each.file, true};
    if (!named.empty() || all.empty()) return Target{file, false};
    if (all.size() == 1) return Target{all.front().file, true};
    std::string files;
    for (const RunningContainerd& each : all) files += (files.empty() ? "" : ", ") + each.file;
    return client::fail(Kind::refused, "runtime: several containerds run, and none of them reads " + file +
                                           ". Try: --file with the one that is meant: " + files + ".");
}

/// Writes a text, or removes the file if there was none.
Result<void> put_back(const std::string& file, const std::string& text, bool was_there) {
    return was_there ? write_engine_file(file, text) : remove_engine_file(file);
}

/// What containerd itself reads in the file that has just been written. Error: the file is as it was.
Result<void> check_written(const std::string& file, const std::string& old, bool was_there,
                           const std::string& program, Terminal& terminal) {
    const auto dump = dump_containerd(file);
    if (!dump) {
        if (imports_files(old))
            terminal.warning(
                file +
                ": it imports other files, whose section of the plugin may replace this one's. Try: "
                "containerd config dump, which shows whether it has the runtime cgpu.");
        return {};
    }
    Result<void> checked;
    if (dump->readable)
        checked = check_containerd_dump(dump->said, program);
    else
        checked = client::fail(Kind::refused, "containerd can't read it: " + model::quote(dump->said) +
                                                  ". Try: containerd config dump, which says the same.");
    if (checked) return {};
    if (auto undone = put_back(file, old, was_there); !undone) return undone;
    return client::fail(checked.error().kind, file + ": " + checked.error().text + " The file is as it was.");
}

/// The text as it was found, if nobody has changed anything else since; else what is left.
struct Former {
    std::string text;
    bool was_there = true;
};
Result<Former> former(const std::string& file, const std::string& left) {
    if (!exists(before_file(file))) return Former{left, !left.empty()};
    auto before = read_engine_file(before_file(file));
    if (!before) return tl::unexpected(before.error());
    const bool is_blank = before->find_first_not_of(" \t\r\n") == std::string::npos;
    if (is_blank ? left.empty() : without_containerd_runtime(*before) == left)
        return Former{std::move(*before)};
    return Former{left, !left.empty()};
}

Result<void> removes(const Target& target, const std::string& now, const RuntimeInput& input,
                     Terminal& terminal) {
    const std::string& file = target.file;
    const std::string left = without_containerd_runtime(now);
    const bool is_in_it = exists(before_file(file)) || left != without_changes(now);
    if (input.dry_run || !is_in_it) {
        terminal.done(file + ": " +
                      (!input.dry_run ? "the runtime cgpu is not in it; there is nothing to undo."
                       : is_in_it     ? "it would be changed; nothing was."
                                      : "nothing would change; nothing was."));
        return {};
    }
    const auto old = former(file, left);
    if (!old) return tl::unexpected(old.error());
    if (auto done = put_back(file, old->text, old->was_there); !done) return done;
    if (auto done = remove_engine_file(before_file(file)); !done) return done;
    terminal.done(file + ": the runtime cgpu is not in it any more" +
                  (target.runs ? "; the containerd that runs has it until it is restarted (systemctl restart "
                                 "containerd)."
                               : "."));
    return {};
}

}  // namespace

Result<void> configure_containerd(const RuntimeInput& input, const std::string& program, Terminal& terminal) {
    const auto target = find_target(input.file);
    if (!target) return tl::unexpected(target.error());
    const std::string& file = target->file;
    const auto now = read_engine_file(file);
    if (!now) return tl::unexpected(now.error());
    if (input.remove) return removes(*target, *now, input, terminal);
    if (const std::string source = source_of(file); !source.empty())
        return client::fail(Kind::refused,
                            file + ": it is written anew at each start of containerd, from " + source +
                                ", so the runtime would be lost; nothing was changed. Try: add the table "
                                "that cgpuctl runtime configure --for containerd "
                                "--file FILE writes to that file.");
    const auto next = with_containerd_runtime(*now, program);
    if (!next)
        return client::fail(next.error().kind, file + ": " + next.error().text + " Nothing was changed.");
    if (input.dry_run) {
        terminal.done(file + ": " + (*now == *next ? "nothing would change" : "it would be changed") +
                      "; nothing was.");
        return {};
    }
    const bool was_there = exists(file);
    if (*now != *next) {
        // A file without anything of cgpu's is as somebody else wrote it, also if there is an older one
        // beside it.
        if (was_there && without_containerd_runtime(*now) == without_changes(*now))
            if (auto kept = write_engine_file(before_file(file), *now); !kept) return kept;
        if (auto done = write_engine_file(file, *next); !done) return done;
    }
    if (auto checked = check_written(file, *now, was_there, program, terminal); !checked) {
        if (*now != *next) (void)remove_engine_file(before_file(file));
        return checked;
    }
    // containerd reads its file at its start only. Containers go on meanwhile.
    terminal.done(file + ": it has the runtime cgpu. " +
                  (target->runs
                       ? "The containerd that runs still has what it read at its start; restart it to "
                         "have the runtime in force: systemctl restart containerd."
                       : "No containerd runs that reads it: one will when it starts."));
    return {};
}

}  // namespace cgpu::cgpuctl
