#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "tests/sim/device/file/device.hpp"
#include "tests/sim/include/simgpu/cuda.h"

namespace simgpu::test {

constexpr auto kFd = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

constexpr std::uint64_t kMiB = 1U << 20;

/// A device file with GPUs of 1 GiB whose contexts cost 100 MiB; SIMGPU_DEVICE names it meanwhile.
class TestDevice {
  public:
    explicit TestDevice(std::uint32_t gpus);
    ~TestDevice();

    struct Use {
        std::uint64_t context_bytes;
        std::uint64_t module_bytes;
        std::uint64_t allocated_bytes;
        std::uint64_t peak_bytes;
        Nanoseconds served;
        bool alive;
    };
    /// What the ledger shows for a process now. The process must be listed.
    Use use(pid_t pid, std::uint32_t gpu = 0);
    std::uint64_t used_bytes(std::uint32_t gpu = 0);
    std::uint64_t unowned_bytes(std::uint32_t gpu = 0);
    int holders();
    Device& device() { return *device_; }

  private:
    std::string path_;
    std::unique_ptr<Device> device_;
};

/// A process that runs `body` and ends with status 0 if it returns. This process never initialises CUDA
/// itself, so that its children may.
class Child {
  public:
    /// What a child uses to talk with the test.
    struct Line {
        void say(char word) const;  ///< Wakes the test's hear().
        void wait() const;          ///< Until the test calls tell(), or is gone.
        int to_test;
        int from_test;
    };

    explicit Child(const std::function<void(const Line&)>& body);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }
    /// The next word from the child; '\0' if it has ended.
    char hear() const;
    void tell() const;
    void kill();
    /// @return the exit status, or 128 + the signal.
    int wait();

  private:
    pid_t pid_;
    int to_child_;
    int from_child_;
};

/// The body of a child that does this, says `d` and lives on until it is told to end.
std::function<void(const Child::Line&)> doing(std::function<void()> work);

/// Waits until `condition` holds. @return false after ten seconds.
bool eventually(const std::function<bool()>& condition);

/// In a child: ends it with a message unless the two are equal.
void require_equal(long long actual, long long expected, const char* what, int line);

/// In a child: cuInit, and the primary context of a device current.
void use_device(int device);
CUdeviceptr allocate(std::size_t bytes);
/// A descriptor in the form in which cu…ImportFromShareableHandle take it.
void* as_shareable(int descriptor);
CUfunction kernel(const char* name);
void launch_busy(CUstream stream, unsigned long long microseconds);

}  // namespace simgpu::test

#define REQUIRE_EQ(actual, expected)                                                                       \
    simgpu::test::require_equal(static_cast<long long>(actual), static_cast<long long>(expected), #actual, \
                                __LINE__)
#define REQUIRE_OK(call) REQUIRE_EQ(call, CUDA_SUCCESS)
