#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <prometheus/exposer.h>
#include <systemd/sd-daemon.h>
#include <CLI/CLI.hpp>

#include "client/exporter/address.hpp"
#include "client/exporter/collector.hpp"
#include "client/node/bus_reader.hpp"

namespace cgpu::exporter {
namespace {

/// Blocks them before any thread exists, so that all threads inherit it.
sigset_t block_end_signals() {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    return ends;
}

/// A client holds a thread until its request has come in full or a second is over, and while it takes its
/// answer. So there are many threads: 64 clients that are slow each second, again and again, hold back no
/// scrape, and 250 at once delay it by some four seconds.
std::vector<std::string> server_options(const std::string& listen) {
    return {"listening_ports",          listen, "num_threads", "64", "request_timeout_ms", "1000",
            "enable_directory_listing", "no"};
}

std::unique_ptr<prometheus::Exposer> make_exposer(const std::string& listen) {
    try {
        return std::make_unique<prometheus::Exposer>(server_options(listen));
    } catch (const std::exception&) {  // its text says nothing about the reason
        return nullptr;
    }
}

int serve(const std::string& listen) {
    const sigset_t ends = block_end_signals();
    const auto exposer = make_exposer(listen);
    if (exposer == nullptr) {
        std::cerr << "cgpu-exporter: it can't listen on " << listen
                  << ": another program has the port, or the machine hasn't the address. Try: ss -ltnp, and "
                     "another address "
                     "or port by --listen.\n";
        return 1;
    }
    client::BusReader reader;
    const auto collector = std::make_shared<Collector>([&reader] { return reader.read(); }, std::cerr);
    exposer->RegisterCollectable(collector);
    const auto ports = exposer->GetListeningPorts();
    std::cout << "cgpu-exporter: serves http://" << listen.substr(0, listen.rfind(':') + 1)
              << (ports.empty() ? 0 : ports.front()) << "/metrics" << std::endl;
    sd_notify(0, "READY=1");
    int signal = 0;
    sigwait(&ends, &signal);
    exposer->RemoveCollectable(collector);
    return 0;
}

}  // namespace
}  // namespace cgpu::exporter

int main(int argc, char** argv) {
    std::string listen = "127.0.0.1:9835";
    CLI::App app{
        "Serves the figures of this node's GPUs and containers to Prometheus, at /metrics over HTTP.",
        "cgpu-exporter"};
    app.set_version_flag("--version", "cgpu-exporter " CGPU_VERSION);
    app.add_option("--listen", listen, "address and port; there is neither encryption nor authentication")
        ->capture_default_str()
        ->type_name("ADDRESS:PORT");
    app.footer(
        "It asks cgpud over the system bus at each scrape, never starts it, and shows cgpud_up 0 while it is "
        "away.");
    CLI11_PARSE(app, argc, argv);
    if (const auto good = cgpu::exporter::check_address(listen); !good) {
        std::cerr << good.error().text << '\n';
        return cgpu::client::exit_code(good.error().kind);
    }
    try {
        return cgpu::exporter::serve(listen);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cgpu-exporter: %s\n", error.what());
        return 1;
    }
}
