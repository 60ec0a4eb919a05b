// Allocates device memory one way or another and tells how far it came.
#include <CLI/CLI.hpp>

#include "tests/programs/common.hpp"

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

CUresult allocate_array(std::size_t bytes) {
    // Rows of 64 KiB, of one-byte elements.
    CUDA_ARRAY_DESCRIPTOR descriptor{65536, bytes / 65536, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array = nullptr;
    return cuArrayCreate(&array, &descriptor);
}

CUresult allocate(const std::string& how, std::size_t bytes) {
    CUdeviceptr pointer = 0;
    std::size_t pitch = 0;
    if (how == "pitch") return cuMemAllocPitch(&pointer, &pitch, 65536, bytes / 65536, 4);
    if (how == "array") return allocate_array(bytes);
    if (how == "async") return cuMemAllocAsync(&pointer, bytes, nullptr);
    if (how == "managed") return cuMemAllocManaged(&pointer, bytes, CU_MEM_ATTACH_GLOBAL);
    return cuMemAlloc(&pointer, bytes);
}

/// @return whether the last allocation failed.
bool run(const Settings& settings) {
    const std::size_t chunk = settings.chunk_mib ? settings.chunk_mib : settings.mib;
    const std::size_t wanted = settings.mib * settings.count;
    std::size_t done = 0;
    CUresult result = CUDA_SUCCESS;
    while (result == CUDA_SUCCESS && (settings.until_fail || done < wanted)) {
        const std::size_t next = settings.until_fail ? chunk : std::min(chunk, wanted - done);
        result = allocate(settings.how, next * kMiB);
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
    app.add_option("--how", settings.how)
        ->check(CLI::IsMember({"plain", "pitch", "array", "async", "managed"}));
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
