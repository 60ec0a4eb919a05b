#include <CLI/CLI.hpp>

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "daemon/config/origins.hpp"
#include "daemon/daemon.hpp"
#include "daemon/formats.hpp"
#include "daemon/store/history/history_file.hpp"
#include "daemon/store/lease_file.hpp"
#include "daemon/store/state_file.hpp"
#include "daemon/system/event_loop.hpp"
#include "daemon/system/log/log.hpp"
#include "daemon/system/notify.hpp"

namespace {

/// Returns large freed blocks to the system. By default malloc raises the threshold for that with the size of
/// freed blocks.
void give_memory_back() {
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

/// EX_CONFIG of sysexits.h. The unit lists it, because a restart would not help.
constexpr int kBadConfig = 78;

void tell(const cgpu::config::Problems& warnings) {
    for (const auto& warning : warnings) std::cerr << "cgpud: warning: " << warning.text << '\n';
}

/// Judges files before they are put where cgpud reads them, together with those that are there: a reload will
/// judge all of them together, too. They may belong to anybody, and no state is read. `gpus`: the node's, as
/// `INDEX=UUID`; none: it isn't known which GPUs the files may name.
int check_files(cgpu::config::Sources sources, const std::vector<std::string>& files,
                const std::vector<std::string>& gpus) {
    sources.judged.assign(files.begin(), files.end());
    auto read = cgpu::config::load(sources);
    const auto known = cgpu::config::read_gpus(gpus);
    if (!known) {
        std::cerr << "cgpud: --gpus: " << known.error() << '\n';
        return 2;
    }
    if (read) {
        // What the other files name was accepted when it was put there.
        std::vector<cgpu::config::Entry> judged;
        for (const auto& entry : read->entries)
            if (std::find(files.begin(), files.end(), entry.origin.file) != files.end())
                judged.push_back(entry);
        if (auto unknown = cgpu::config::unknown_gpus(judged, *known); !unknown.empty())
            read = tl::unexpected(std::move(unknown));
    }
    if (read) {
        tell(read->warnings);
        std::cout << "cgpud would accept " << (files.size() == 1 ? "this file" : "these files") << '\n';
        return 0;
    }
    for (const auto& problem : read.error()) std::cerr << "cgpud: " << problem.text << '\n';
    return kBadConfig;
}

/// What cgpud has written before, and would read at its next start.
int check_kept(const cgpu::config::Config& config) {
    bool good = true;
    for (const auto& checked : {cgpu::store::StateFile(config.state_dir).check(),
                                cgpu::store::LeaseFile::check(config.runtime_dir / "leases")})
        if (!checked) {
            std::cerr << "cgpud: " << checked.error().text << '\n';
            good = false;
        }
    if (!good) return 1;
    // It starts without a history.
    for (const auto* file : {"history", "history-days"})
        if (const auto checked = cgpu::store::HistoryFile::check(config.state_dir / file);
            !checked && config.history_mib > 0)
            std::cerr << "cgpud: warning: " << checked.error().text << '\n';
    std::cout << "the configuration and the state are good\n";
    return 0;
}

int run(cgpu::config::Sources sources, std::filesystem::path nvml_socket, bool check_only) {
    std::optional<cgpu::system::EndedBySignals> reading(std::in_place);
    auto read = cgpu::config::load(sources);
    if (!read) {
        for (const auto& problem : read.error()) std::cerr << "cgpud: " << problem.text << '\n';
        // systemd keeps it for users who ask why the service isn't running.
        if (!check_only) cgpu::system::notify_last_status(read.error().front().text);
        return kBadConfig;
    }
    if (check_only) {
        tell(read->warnings);
        return check_kept(read->config);
    }
    reading.reset();
    cgpu::system::set_up_log(read->config.log_level);
    cgpu::Daemon daemon(std::move(sources), std::move(*read), std::move(nvml_socket));
    return daemon.run();
}

}  // namespace

int main(int argc, char** argv) {
    cgpu::config::Sources sources;
    std::filesystem::path nvml_socket;
    bool check_only = false;
    std::vector<std::string> files;
    std::vector<std::string> gpus;
    bool formats = false;
    CLI::App app{
        "cgpud owns this node's GPU sharing: it serves org.cgpu1 on the system bus and divides memory and "
        "compute.",
        "cgpud"};
    app.set_version_flag("--version", "cgpud " CGPU_VERSION);
    app.add_option("--defaults", sources.defaults, "the shipped defaults")->capture_default_str();
    app.add_option("--config", sources.main, "the administrator's file")->capture_default_str();
    app.add_option("--drop-ins", sources.drop_ins, "the folder of further *.yaml files")
        ->capture_default_str();
    app.add_option("--set", sources.overrides,
                   "KEY=VALUE over all files, e.g. --set policy=weighted; may be repeated");
    app.add_option(
        "--nvml-socket", nvml_socket,
        "ask the reader of NVML that systemd starts at this socket, instead of starting one; cgpud "
        "needs no access to the GPUs then");
    app.add_flag("--check", check_only,
                 "read the configuration and the state, say what is wrong with them, and end");
    app.add_option("--check-files", files,
                   "read these files as if they were in place, with the others that are there, say what is "
                   "wrong with them, and end");
    app.add_option("--gpus", gpus,
                   "with --check-files: the node's GPUs, each INDEX=UUID; the files may name no others");
    app.add_flag(
        "--formats", formats,
        "print the versions of files, modules and links that it can read (name, oldest, newest), and "
        "end");
    app.footer("SIGHUP reads the configuration again; SIGTERM ends cgpud, and jobs go on without it.");
    CLI11_PARSE(app, argc, argv);
    if (formats) {
        std::cout << cgpu::formats_text();
        return 0;
    }
    if (!files.empty()) return check_files(std::move(sources), files, gpus);
    give_memory_back();
    try {
        cgpu::Daemon::block_signals();
        return run(std::move(sources), std::move(nvml_socket), check_only);
    } catch (const std::system_error& error) {
        // Resources that the kernel refuses at start (descriptors, epoll): nothing works without them.
        std::cerr << "cgpud: " << error.what() << ". Try: more descriptors (ulimit -n) and memory.\n";
        return 1;
    }
}
