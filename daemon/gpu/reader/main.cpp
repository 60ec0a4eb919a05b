// cgpu-nvml: answers cgpud's questions about the GPUs. It is a process of its own because NVIDIA's library
// can hang or crash, and so that cgpud needs no access to the GPUs.
#include <unistd.h>

#include <iostream>
#include <string>
#include <string_view>

#include "daemon/gpu/reader/answers.hpp"

namespace {

constexpr std::string_view kUsage =
    R"(usage: cgpu-nvml [--help | --version]

Reads questions from standard input, one line of JSON each, and answers each with one line on standard output, by NVIDIA's
management library (libnvidia-ml.so.1). It ends when its input ends. systemd starts it for cgpud (cgpu-nvml.socket).

  echo '{"id":1,"ask":"list"}' | cgpu-nvml      the GPUs
  … {"id":2,"ask":"processes","gpu":"GPU-…"}    the processes on one
  … {"id":3,"ask":"examine"}                    what cgpuctl doctor wants to know
)";

/// A question that takes longer ends the process (by SIGALRM's default action), and cgpud starts another one.
/// NVML may need a minute to start on a node with many GPUs.
constexpr unsigned kMostSeconds = 120;

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1) {
        const std::string_view argument = argv[1];
        if (argument == "--version") std::cout << "cgpu-nvml " CGPU_VERSION "\n";
        if (argument == "--help") std::cout << kUsage;
        if (argument == "--version" || argument == "--help") return 0;
        std::cerr << "cgpu-nvml: unknown argument: " << argument << ". Try: --help\n";
        return 2;
    }
    cgpu::gpu::NvmlReader reader;
    for (std::string line; std::cout && std::getline(std::cin, line);) {
        alarm(kMostSeconds);
        const std::string answer = cgpu::gpu::answer_to(line, reader);
        alarm(0);
        std::cout << answer << std::endl;
    }
    return 0;
}
