#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "module/front/driver/cuda_abi.hpp"
#include "tests/unit/module/front/support/front_daemon.hpp"

constexpr int kOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY

// States of a gate: wire::GateState.
constexpr std::uint32_t kClosed = 0;
constexpr std::uint32_t kOpen = 1;
constexpr std::uint32_t kFree = 2;

/// A managed process: its own folder with a daemon, and the front loaded as a program loads the driver. One
/// process can do that only once, so each test needs a process of its own, which ctest provides.
class Front : public testing::Test {
  protected:
    static constexpr std::uint64_t kMiB = 1 << 20;
    using LaunchKernel = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             void*, void**, void**);

    void SetUp() override {
        static int runs = 0;
        if (runs++ > 0) GTEST_SKIP() << "one process per test: run this with ctest, or with --gtest_filter";
#ifdef CGPU_TEST_FOLDER
        ASSERT_EQ(chdir(CGPU_TEST_FOLDER), 0);
#else
        char path[] = "/tmp/cgpu-front-XXXXXX";
        ASSERT_NE(mkdtemp(path), nullptr);
        folder_ = path;
        ASSERT_EQ(chdir(path), 0);
#endif
        daemon_ = std::make_unique<FakeDaemon>(first_cards_uuid());
        front_ = dlopen(CGPU_TEST_FRONT, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(front_, nullptr) << dlerror();
        driver_ = dlopen(CGPU_TEST_DRIVER, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(driver_, nullptr) << dlerror();
    }

    void TearDown() override {
        daemon_.reset();
        if (!folder_.empty()) std::filesystem::remove_all(folder_);
    }

    DaemonControl& daemon() { return daemon_->control(); }
    pid_t daemon_pid() const { return daemon_->pid(); }

    void take_daemon_down() {
        daemon().down = 1;
        ASSERT_TRUE(eventually([&] { return daemon().is_down == 1; }));
    }
    void mute_daemon() {
        daemon().mute = 1;
        ASSERT_TRUE(eventually([&] { return daemon().is_mute == 1; }));
    }

    /// A function of the front, by name: `call<int(unsigned)>("cuInit")(0)`.
    template <class Signature>
    std::function<Signature> call(const char* name) const {
        return reinterpret_cast<Signature*>(dlsym(front_, name));
    }
    /// The same for the driver behind it.
    template <class Signature>
    std::function<Signature> behind(const char* name) const {
        return reinterpret_cast<Signature*>(dlsym(driver_, name));
    }

    int init() const { return call<int(unsigned)>("cuInit")(0); }
    /// cuInit and a context on a device.
    void start(int device = 0) {
        ASSERT_EQ(init(), 0);
        ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context_, 0, device)), 0);
    }
    int allocate(std::uint64_t bytes, std::uint64_t* address) const {
        return call<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(address, bytes);
    }
    int free(std::uint64_t address) const { return call<int(std::uint64_t)>("cuMemFree_v2")(address); }
    std::uint64_t heap_bytes() const { return behind<std::uint64_t()>("fake_heap_bytes")(); }
    std::int64_t launches() const { return behind<std::int64_t()>("fake_launches")(); }
    int launch(void* stream = nullptr, std::size_t function = 0) const {
        static int functions[2];
        return call<LaunchKernel>("cuLaunchKernel")(&functions[function], 1, 1, 1, 1, 1, 1, 0, stream,
                                                    nullptr, nullptr);
    }
    /// Memory of the stream that is free when the kernel has run.
    void free_behind_a_kernel(std::uint64_t bytes, void* stream) const {
        std::uint64_t address = 0;
        ASSERT_EQ((call<int(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync")(&address, bytes, stream)),
                  0);
        ASSERT_EQ(launch(stream), 0);
        ASSERT_EQ((call<int(std::uint64_t, void*)>("cuMemFreeAsync")(address, stream)), 0);
    }

    /// As the driver reports it to another process: in this one the driver must stay uninitialised.
    static std::array<std::uint8_t, 16> first_cards_uuid() {
        std::array<std::uint8_t, 16> uuid{};
        int ends[2] = {-1, -1};
        if (pipe(ends) != 0) return uuid;
        const pid_t child = fork();
        if (child == 0) {
            void* driver = dlopen(CGPU_TEST_DRIVER, RTLD_NOW | RTLD_LOCAL);
            if (driver == nullptr) _exit(1);
            const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
            const auto tell = reinterpret_cast<int (*)(void*, int)>(dlsym(driver, "cuDeviceGetUuid"));
            const bool told =
                init(0) == 0 && tell(uuid.data(), 0) == 0 && write(ends[1], uuid.data(), 16) == 16;
            _exit(told ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(read(ends[0], uuid.data(), 16), 16);
        close(ends[0]);
        close(ends[1]);
        return uuid;
    }

    /// Waits for a condition; false if it isn't true within 20 s.
    static bool eventually(const std::function<bool()>& condition) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!condition()) {
            if (std::chrono::steady_clock::now() > until) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

    /// The measured time and the GPU's idle time when something began.
    struct Began {
        std::int64_t used_ns;
        std::int64_t idle_ns;
    };
    Began begin_measuring() {
        read_pages();
        return {daemon().used_ns, idle_ns()};
    }
    /// The daemon's figures are those of now, or later ones.
    void read_pages() {
        const auto before = daemon().reads.load();  // one may be in progress
        EXPECT_TRUE(eventually([&] { return daemon().reads >= before + 2; }));
    }
    /// The GPU time that was measured since then is within these bounds. A batch whose launches come too late
    /// for the GPU, on a busy machine, lasts longer by the time in which the GPU idled.
    void expect_used(std::int64_t at_least_ns, std::int64_t less_than_ns, const Began& began) {
        const auto used_ns = [&] { return daemon().used_ns - began.used_ns; };
        EXPECT_TRUE(eventually([&] { return used_ns() >= at_least_ns; })) << used_ns();
        EXPECT_LT(used_ns(), less_than_ns + (idle_ns() - began.idle_ns));
    }
    std::int64_t idle_ns() const { return behind<std::int64_t()>("fake_idle_ns")(); }

    std::unique_ptr<FakeDaemon> daemon_;
    std::string folder_;
    void* front_ = nullptr;
    void* driver_ = nullptr;
    void* context_ = nullptr;
};
