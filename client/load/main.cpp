// Keeps a GPU busy with equal kernels and reports how many it has completed, for `cgpuctl bench`. The work of
// a kernel is fixed, so the count measures what the program got done, whatever other programs used the GPU
// meanwhile.
#include <sys/prctl.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "client/load/driver.hpp"

/// busy.ptx, terminated by a zero.
extern "C" const char cgpu_load_busy[];

namespace cgpu::load {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned int kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
constexpr unsigned int kWithoutTiming = 2;  // CU_EVENT_DISABLE_TIMING
/// The work ahead of the GPU is kept at two batches of about this length, so that the program ends soon.
constexpr std::uint64_t kBatchUs = 20'000;
constexpr auto kSayEvery = std::chrono::milliseconds(50);

class Load {
  public:
    Load(const Driver& driver, std::uint64_t kernel_us) : driver_(driver), us_(kernel_us) {}

    [[noreturn]] void run() {
        prepare();
        std::puts("ready");
        const auto batch = std::clamp<std::uint64_t>(kBatchUs / us_, 1, 256);
        auto said = Clock::now();
        for (std::uint64_t number = 0;; ++number) {
            for (std::uint64_t i = 0; i < batch; ++i) launch();
            must(driver_.record(events_[number % 2], stream_), "cuEventRecord");
            if (number == 0) continue;
            must(driver_.wait_for(events_[(number - 1) % 2]), "cuEventSynchronize");
            const auto now = Clock::now();
            if (now - said < kSayEvery) continue;
            said = now;
            say(now, number * batch);
        }
    }

  private:
    void prepare() {
        Context context = nullptr;
        Module module = nullptr;
        must(driver_.init(0), "cuInit");
        must(driver_.retain_context(&context, 0), "cuDevicePrimaryCtxRetain");
        must(driver_.set_context(context), "cuCtxSetCurrent");
        must(driver_.load_module(&module, cgpu_load_busy), "cuModuleLoadData");
        must(driver_.get_function(&busy_, module, "busy"), "cuModuleGetFunction");
        must(driver_.create_stream(&stream_, kNonBlocking), "cuStreamCreate");
        for (Event& event : events_) must(driver_.create_event(&event, kWithoutTiming), "cuEventCreate");
    }

    void launch() {
        std::array<void*, 1> parameters{&us_};
        must(driver_.launch(busy_, 1, 1, 1, 1, 1, 1, 0, stream_, parameters.data(), nullptr),
             "cuLaunchKernel");
    }

    /// CLOCK_MONOTONIC in nanoseconds, and the number of kernels completed by then.
    static void say(Clock::time_point now, std::uint64_t finished) {
        const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch());
        std::printf("%lld %llu\n", static_cast<long long>(since.count()),
                    static_cast<unsigned long long>(finished));
    }

    void must(int result, const char* call) const {
        if (result != 0) throw std::runtime_error(std::string(call) + ": " + error_name(driver_, result));
    }

    const Driver& driver_;
    std::uint64_t us_;
    Function busy_ = nullptr;
    Stream stream_ = nullptr;
    std::array<Event, 2> events_{};
};

}  // namespace
}  // namespace cgpu::load

int main(int argc, char** argv) {
    std::uint64_t kernel_us = 1000;
    CLI::App app(
        "Keeps a GPU busy with equal kernels until it is ended. Prints `ready`, then lines of "
        "CLOCK_MONOTONIC in "
        "nanoseconds and the kernels finished by then");
    app.add_option("--kernel-us", kernel_us, "Work of a kernel: about so many microseconds of a GPU at 2 GHz")
        ->check(CLI::Range(1, 10'000'000));
    CLI11_PARSE(app, argc, argv);
    // The program is useless without its parent.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    try {
        const auto driver = cgpu::load::open_driver();
        cgpu::load::Load(driver, kernel_us).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cgpu-load: %s\n", error.what());
        return 1;
    }
}
