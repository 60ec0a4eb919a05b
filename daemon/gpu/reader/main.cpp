// cgpu-nvml: answers cgpud's questions about the GPUs. It is a process of its own because NVIDIA's library
// can hang or crash, and so that cgpud needs no access to the GPUs.
#include <unistd.h>

#include <charconv>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/gpu/reader/answers.hpp"

namespace {

constexpr std::string_view kUsage =
    R"(usage: cgpu-nvml [--timeout S] [--help | --version]

Reads questions from standard input, one line of JSON each, and answers each with one line on standard output, by NVIDIA's
management library (libnvidia-ml.so.1). It ends when its input ends, and by SIGALRM if an answer takes more than S seconds
(120). systemd starts it for cgpud (cgpu-nvml.socket).

  echo '{"id":1,"ask":"list"}' | cgpu-nvml      the GPUs
  … {"id":2,"ask":"processes","gpu":"GPU-…"}    the processes on one
  … {"id":3,"ask":"examine"}                    what cgpuctl doctor wants to know
  … {"id":4,"ask":"utilization","gpu":"GPU-…","after":0}    how much the processes on one use it
)";

/// A question that takes longer ends the process (by SIGALRM's default action), and cgpud starts another one.
/// NVML may need a minute to start on a node with many GPUs.
constexpr unsigned kMostSeconds = 120;

/// Whole seconds, from 1; empty: it isn't that.
std::optional<unsigned> seconds_of(std::string_view text) {
    unsigned seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool whole = error == std::errc() && end == text.data() + text.size() && seconds > 0;
    return whole ? std::optional(seconds) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
    unsigned most_seconds = kMostSeconds;
    if (argc > 1) {
        const std::string_view argument = argv[1];
        if (argument == "--version") std::cout << "cgpu-nvml " CGPU_VERSION "\n";
        if (argument == "--help") std::cout << kUsage;
        if (argument == "--version" || argument == "--help") return 0;
        const auto seconds = argc == 3 && argument == "--timeout" ? seconds_of(argv[2]) : std::nullopt;
        if (!seconds) {
            std::cerr << "cgpu-nvml: unknown argument: " << argv[argc - 1] << ". Try: --help\n";
            return 2;
        }
        most_seconds = *seconds;
    }
    cgpu::gpu::NvmlReader reader;
    for (std::string line; std::cout && std::getline(std::cin, line);) {
        alarm(most_seconds);
        const std::string answer = cgpu::gpu::answer_to(line, reader);
        alarm(0);
        std::cout << answer << std::endl;
    }
    return 0;
}
