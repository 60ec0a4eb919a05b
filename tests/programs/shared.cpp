// Device memory of one process is opened by another one (cuIpcGetMemHandle, cuIpcOpenMemHandle).
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"
#include "tests/sim/include/simgpu/cuda_memory.h"

namespace {

using programs::must;
using programs::say;

constexpr unsigned char kMark = 0x5a;
constexpr std::size_t kLooked = 4096;

/// Carries the handle from one process to the other, and a byte back.
struct Pipes {
    std::array<int, 2> there{-1, -1};
    std::array<int, 2> back{-1, -1};
};

template <class T>
bool receive(int from, T& value) {
    return read(from, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}

template <class T>
bool send(int to, const T& value) {
    return write(to, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}

/// Opens the memory, checks that it is the other process's, and keeps it until that one ends.
int open_it(int device, const Pipes& pipes) {
    close(pipes.there[1]);
    CUipcMemHandle handle{};
    if (!receive(pipes.there[0], handle)) return 1;
    programs::use_device(device);
    CUdeviceptr memory = 0;
    must(cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), "cuIpcOpenMemHandle");
    std::array<unsigned char, kLooked> seen{};
    must(cuMemcpyDtoH(seen.data(), memory, seen.size()), "cuMemcpyDtoH");
    unsigned long long wrong = 0;
    for (const unsigned char byte : seen) wrong += byte != kMark;
    say("wrong", wrong);
    if (!send(pipes.back[1], 'o')) return 1;
    char byte = 0;
    receive(pipes.there[0], byte);  // ends when the other one does
    return wrong == 0 ? 0 : 1;
}

void give_it(int device, std::size_t bytes, const Pipes& pipes) {
    close(pipes.there[0]);
    close(pipes.back[1]);
    programs::use_device(device);
    CUdeviceptr memory = 0;
    must(cuMemAlloc(&memory, bytes), "cuMemAlloc");
    must(cuMemsetD8(memory, kMark, bytes), "cuMemsetD8");
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    CUipcMemHandle handle{};
    must(cuIpcGetMemHandle(&handle, memory), "cuIpcGetMemHandle");
    char opened = 0;
    if (!send(pipes.there[1], handle) || !receive(pipes.back[0], opened)) {
        say("error", "the other process did not open it");
        std::exit(1);
    }
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options("Two processes hold the same device memory; prints 'wrong N' and 'ready'");
    std::size_t mib = 0;
    int device = 0;
    options.value("--mib", mib, "MiB").required();
    options.value("--device", device);
    if (const auto status = options.parse(argc, argv)) return *status;

    Pipes pipes;
    if (pipe(pipes.there.data()) != 0 || pipe(pipes.back.data()) != 0) return 1;
    const pid_t other = fork();
    if (other < 0) return 1;
    if (other == 0) return open_it(device, pipes);
    programs::take_stop_signals();
    give_it(device, mib << 20, pipes);
    programs::hold();
    close(pipes.there[1]);
    int status = 0;
    waitpid(other, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
