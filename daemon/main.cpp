#include <CLI/CLI.hpp>

#include <malloc.h>

#include <iostream>
#include <system_error>

#include "daemon/daemon.hpp"
#include "daemon/formats.hpp"
#include "daemon/store/state_file.hpp"
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

int run(cgpu::config::Sources sources, bool check_only) {
    auto config = cgpu::config::load(sources);
    if (!config) {
        for (const auto& problem : config.error()) std::cerr << "cgpud: " << problem.text << '\n';
        // systemd keeps it for users who ask why the service isn't running.
        if (!check_only) cgpu::system::notify_last_status(config.error().front().text);
        return kBadConfig;
    }
    if (check_only) {
        if (const auto checked = cgpu::store::StateFile(config->state_dir).check(); !checked) {
            std::cerr << "cgpud: " << checked.error().text << '\n';
            return 1;
        }
        std::cout << "the configuration and the state are good\n";
        return 0;
    }
    cgpu::system::set_up_log(config->log_level);
    cgpu::Daemon daemon(std::move(sources), std::move(*config));
    return daemon.run();
}

}  // namespace

int main(int argc, char** argv) {
    cgpu::config::Sources sources;
    bool check_only = false;
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
    app.add_flag("--check", check_only,
                 "read the configuration and the state, say what is wrong with them, and end");
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
    give_memory_back();
    try {
        cgpu::Daemon::block_signals();
        return run(std::move(sources), check_only);
    } catch (const std::system_error& error) {
        // Resources that the kernel refuses at start (descriptors, epoll): nothing works without them.
        std::cerr << "cgpud: " << error.what() << ". Try: more descriptors (ulimit -n) and memory.\n";
        return 1;
    }
}
