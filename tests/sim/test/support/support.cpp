#include "tests/sim/test/support/support.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/device/ledger/ledger.hpp"

namespace simgpu::test {

TestDevice::TestDevice(std::uint32_t gpus) {
    char name[] = "/tmp/simgpu-test-XXXXXX";
    const int descriptor = mkstemp(name);
    if (descriptor < 0) throw std::runtime_error("can't make a temporary file");
    close(descriptor);
    path_ = name;
    std::vector<Card> cards(gpus);
    for (std::uint32_t g = 0; g < gpus; ++g) {
        std::snprintf(cards[g].name, sizeof cards[g].name, "Test GPU %u", g);
        cards[g].uuid = {static_cast<std::uint8_t>(g + 1)};
        cards[g].memory_bytes = 1024 * kMiB;
        cards[g].reserved_bytes = 24 * kMiB;
        cards[g].context_bytes = 100 * kMiB;
        cards[g].slice = 2'000'000;
        cards[g].switch_cost = 50'000;
        cards[g].sm_count = 80;
        cards[g].pci_bus = g + 1;
    }
    if (Device::create(path_, cards) != 0) throw std::runtime_error("can't make " + path_);
    setenv("SIMGPU_DEVICE", path_.c_str(), 1);
    device_ = Device::open(path_);
}

TestDevice::~TestDevice() { unlink(path_.c_str()); }

TestDevice::Use TestDevice::use(pid_t pid, std::uint32_t gpu) {
    Session session(*device_);
    Ledger ledger(session);
    ledger.reap(kMaxProcesses);
    session.advance();
    const Layout& layout = session.layout();
    for (std::uint32_t slot = 0; slot < layout.process_count; ++slot) {
        const ProcessEntry& process = layout.processes[slot];
        if (process.pid != pid) continue;
        const GpuUse& use = process.gpus[gpu];
        return {use.context_bytes, use.module_bytes,         use.allocated_bytes,
                use.peak_bytes,    ledger.served(slot, gpu), process.state == ProcessState::alive};
    }
    throw std::runtime_error("process is not in the ledger");
}

std::uint64_t TestDevice::used_bytes(std::uint32_t gpu) {
    Session session(*device_);
    Ledger ledger(session);
    ledger.reap(kMaxProcesses);
    return ledger.used_bytes(gpu);
}

std::uint64_t TestDevice::unowned_bytes(std::uint32_t gpu) {
    Session session(*device_);
    Ledger(session).reap(kMaxProcesses);
    return session.layout().unowned_bytes[gpu];
}

int TestDevice::holders() {
    Session session(*device_);
    Ledger(session).reap(kMaxProcesses);
    int count = 0;
    for (const ProcessEntry& process : session.layout().processes)
        count += process.state == ProcessState::alive;
    return count;
}

void Child::Line::say(char word) const {
    if (write(to_test, &word, 1) != 1) _exit(90);
}

void Child::Line::wait() const {
    char word = 0;
    if (read(from_test, &word, 1) != 1) _exit(0);
}

Child::Child(const std::function<void(const Line&)>& body) {
    int down[2];
    int up[2];
    if (pipe(down) != 0 || pipe(up) != 0) throw std::runtime_error("pipe");
    pid_ = fork();
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(down[1]);
        close(up[0]);
        body(Line{up[1], down[0]});
        _exit(0);
    }
    close(down[0]);
    close(up[1]);
    to_child_ = down[1];
    from_child_ = up[0];
}

Child::~Child() {
    kill();
    close(to_child_);
    close(from_child_);
}

char Child::hear() const {
    char word = 0;
    return read(from_child_, &word, 1) == 1 ? word : '\0';
}

void Child::tell() const {
    const char word = '.';
    if (write(to_child_, &word, 1) != 1) throw std::runtime_error("the child is gone");
}

void Child::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
}

int Child::wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::function<void(const Child::Line&)> doing(std::function<void()> work) {
    return [work = std::move(work)](const Child::Line& line) {
        work();
        line.say('d');
        line.wait();
    };
}

bool eventually(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

void require_equal(long long actual, long long expected, const char* what, int line) {
    if (actual == expected) return;
    std::fprintf(stderr, "line %d: %s is %lld, not %lld\n", line, what, actual, expected);
    _exit(1);
}

void use_device(int device) {
    CUcontext context = nullptr;
    REQUIRE_OK(cuInit(0));
    REQUIRE_OK(cuDevicePrimaryCtxRetain(&context, device));
    REQUIRE_OK(cuCtxSetCurrent(context));
}

CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr pointer = 0;
    REQUIRE_OK(cuMemAlloc(&pointer, bytes));
    return pointer;
}

void* as_shareable(int descriptor) { return at_address(static_cast<std::uint64_t>(descriptor)); }

CUfunction kernel(const char* name) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    REQUIRE_OK(cuModuleLoadData(&module, "image"));
    REQUIRE_OK(cuModuleGetFunction(&function, module, name));
    return function;
}

void launch_busy(CUstream stream, unsigned long long microseconds) {
    static CUfunction busy = kernel("busy");
    void* parameters[] = {&microseconds};
    REQUIRE_OK(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
}

}  // namespace simgpu::test
