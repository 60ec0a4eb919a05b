// cgpu-fs: the node as a tree of files, in the manner of cGPU's /proc/cgpu_km.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>

#include "client/fs/mount.hpp"
#include "client/node/bus_node.hpp"

int main(int argc, char** argv) {
    std::string folder = "/run/cgpu/km";
    CLI::App app(
        "Serves the node as a tree of files, with the names and formats of cGPU's /proc/cgpu_km, until it is "
        "ended (SIGTERM) or the tree is unmounted. See cgpu-fs(8).");
    app.name("cgpu-fs");
    app.set_version_flag("--version", CGPU_VERSION);
    app.add_option("FOLDER", folder, "where to mount it (default: " + folder + ")");
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) {
        return app.exit(asked);
    } catch (const CLI::ParseError& error) {
        std::fprintf(stderr, "cgpu-fs: %s. Try: cgpu-fs --help.\n", error.what());
        return 2;
    }
    cgpu::client::BusNode node;
    cgpu::fs::NodeView view(node);
    if (const auto served = cgpu::fs::serve(view, folder); !served) {
        std::fprintf(stderr, "%s\n", served.error().text.c_str());
        return cgpu::client::exit_code(served.error().kind);
    }
    return EXIT_SUCCESS;
}
