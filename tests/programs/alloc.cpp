// Allocates device memory one way or another and tells how far it came.
#include <CLI/CLI.hpp>

#include "tests/programs/common.hpp"
#include "tests/programs/ways.hpp"

namespace {

using programs::say;

constexpr std::size_t kMiB = 1U << 20;

struct Settings {
    std::size_t mib = 0;
    std::size_t count = 1;
    std::size_t chunk_mib = 0;
    std::string how = "plain";
    int device = 0;
    bool until_fail = false;
    bool hold = false;
};

/// @return whether the last allocation failed.
bool run(const Settings& settings) {
    const std::size_t chunk = settings.chunk_mib ? settings.chunk_mib : settings.mib;
    const std::size_t wanted = settings.mib * settings.count;
    std::size_t done = 0;
    CUresult result = CUDA_SUCCESS;
    while (result == CUDA_SUCCESS && (settings.until_fail || done < wanted)) {
        const std::size_t next = settings.until_fail ? chunk : std::min(chunk, wanted - done);
        result = programs::allocate(settings.how, settings.device, next * kMiB);
        if (result == CUDA_SUCCESS) done += next;
    }
    say("result", std::to_string(result) + " " + programs::result_name(result));
    say("allocated_mib", done);
    return result != CUDA_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Allocates device memory; prints 'result CODE NAME' and 'allocated_mib N'");
    Settings settings;
    app.add_option("--mib", settings.mib, "MiB to allocate")->required();
    app.add_option("--count", settings.count, "That many times");
    app.add_option("--chunk-mib", settings.chunk_mib, "In pieces of this size (default: in one)");
    app.add_option("--how", settings.how)->check(CLI::IsMember(programs::ways()));
    app.add_option("--device", settings.device);
    app.add_flag("--until-fail", settings.until_fail, "Piece after piece until one is refused");
    app.add_flag("--hold", settings.hold,
                 "Print 'ready' and keep it until SIGTERM, or until stdin (a pipe) closes");
    CLI11_PARSE(app, argc, argv);

    programs::take_stop_signals();
    programs::use_device(settings.device);
    const bool failed = run(settings);
    if (settings.hold) programs::hold();
    return failed && !settings.until_fail ? 1 : 0;
}
