// Allocates device memory in a given way and tells how much it could allocate.
#include <algorithm>
#include <cstddef>
#include <string>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"
#include "tests/programs/support/ways.hpp"

namespace {

using programs::say;

constexpr std::size_t kMiB = 1U << 20;

struct Settings {
    std::size_t mib = 0;
    std::size_t count = 1;
    std::size_t chunk_mib = 0;
    std::size_t local_mib = 0;
    std::size_t stacks_mib = 0;
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
    programs::Options options("Allocates device memory; prints 'result CODE NAME' and 'allocated_mib N'");
    Settings settings;
    options.value("--mib", settings.mib, "MiB to allocate").required();
    options.value("--count", settings.count, "That many times");
    options.value("--chunk-mib", settings.chunk_mib, "In pieces of this size (default: in one)");
    options.value("--how", settings.how).one_of(programs::ways());
    options.value("--local-mib", settings.local_mib, "So much local memory first");
    options.value("--stacks-mib", settings.stacks_mib,
                  "So much for larger stacks first, by code that is loaded");
    options.value("--device", settings.device);
    options.flag("--until-fail", settings.until_fail, "Piece after piece until one is refused");
    options.flag("--hold", settings.hold,
                 "Print 'ready' and keep it until SIGTERM, or until stdin (a pipe) closes");
    if (const auto status = options.parse(argc, argv)) return *status;

    programs::take_stop_signals();
    programs::use_device(settings.device);
    if (settings.local_mib > 0)
        programs::must(programs::allocate("local", settings.device, settings.local_mib * kMiB), "the launch");
    if (settings.stacks_mib > 0)
        programs::must(programs::allocate("stacks", settings.device, settings.stacks_mib * kMiB), "the load");
    const bool failed = run(settings);
    if (settings.hold) programs::hold();
    return failed && !settings.until_fail ? 1 : 0;
}
