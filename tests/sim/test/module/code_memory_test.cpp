// What modules and the limits of a context take of the card.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/sim/include/simgpu/cuda.h"
#include "tests/sim/include/simgpu/cuda_graph.h"
#include "tests/sim/test/support/support.hpp"

// No program of the tests asks for it but this one.

namespace simgpu::test {
namespace {

CUmodule load(const std::string& image) {
    CUmodule module = nullptr;
    REQUIRE_OK(cuModuleLoadData(&module, image.c_str()));
    return module;
}

CUfunction busy_of(CUmodule module) {
    CUfunction function = nullptr;
    REQUIRE_OK(cuModuleGetFunction(&function, module, "busy"));
    return function;
}

/// Of a kernel that takes a time.
CUresult launch(CUfunction function) {
    unsigned long long microseconds = 1;
    void* parameters[] = {&microseconds};
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
}

TEST(CodeMemory, ModulesShareBlocksAndAreLoadedWhenTheirKernelsAre) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        unsetenv("CUDA_MODULE_LOADING");
        use_device(0);
        const CUmodule large = load(std::string(3 * kMiB, 'x'));
        CUmoduleLoadingMode mode = CU_MODULE_EAGER_LOADING;
        REQUIRE_OK(cuModuleGetLoadingMode(&mode));
        REQUIRE_EQ(mode, CU_MODULE_LAZY_LOADING);
        line.say('l');
        line.wait();
        busy_of(large);
        line.say('1');
        line.wait();
        busy_of(load(std::string(kMiB / 2, 'x')));
        line.say('2');
        line.wait();
        busy_of(load(std::string(kMiB, 'x')));
        line.say('3');
        line.wait();
        REQUIRE_OK(cuModuleUnload(large));
        line.say('u');
        line.wait();
        REQUIRE_OK(cuDevicePrimaryCtxReset(0));
        line.say('r');
        line.wait();
    });
    const auto expect = [&](char step, std::uint64_t modules, std::uint64_t contexts) {
        ASSERT_EQ(child.hear(), step);
        const auto use = device.use(child.pid());
        EXPECT_EQ(use.module_bytes, modules * kMiB) << step;
        EXPECT_EQ(use.context_bytes, contexts * kMiB) << step;
        EXPECT_EQ(use.allocated_bytes, 0U) << step;
        EXPECT_EQ(device.used_bytes(), (modules + contexts) * kMiB) << step;
        child.tell();
    };
    expect('l', 0, 100);
    expect('1', 4, 100);
    expect('2', 4, 100);
    expect('3', 6, 100);
    expect('u', 2, 100);
    expect('r', 0, 0);
    EXPECT_EQ(child.wait(), 0);
}

TEST(CodeMemory, BinaryImagesTellTheirSize) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        const struct {
            std::uint32_t magic = 0xba55ed50;
            std::uint16_t version = 1;
            std::uint16_t header_bytes = 16;
            std::uint64_t bytes = 5 * kMiB;
        } fat_binary;
        const struct {
            std::uint32_t magic = 0x466243b1;
            std::uint32_t version = 1;
            const void* data = nullptr;
        } wrapper{0x466243b1, 1, &fat_binary};
        Elf64_Ehdr elf{};
        std::memcpy(elf.e_ident, ELFMAG, SELFMAG);
        elf.e_shoff = 7 * kMiB;
        elf.e_shnum = 1;
        elf.e_shentsize = sizeof(Elf64_Shdr);
        for (const void* image : {static_cast<const void*>(&fat_binary), static_cast<const void*>(&wrapper),
                                  static_cast<const void*>(&elf)}) {
            CUmodule module = nullptr;
            REQUIRE_OK(cuModuleLoadData(&module, image));
            busy_of(module);
            line.say('l');
            line.wait();
            REQUIRE_OK(cuModuleUnload(module));
        }
    });
    for (const unsigned int mib : {6U, 6U, 8U}) {
        ASSERT_EQ(child.hear(), 'l');
        EXPECT_EQ(device.use(child.pid()).module_bytes, mib * kMiB);
        child.tell();
    }
    EXPECT_EQ(child.wait(), 0);
}

TEST(CodeMemory, EagerLoadingTakesItAtOnceAndAFullCardRefuses) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        setenv("CUDA_MODULE_LOADING", "EAGER", 1);
        use_device(0);
        load(std::string(3 * kMiB, 'x'));
        line.say('e');
        line.wait();
        CUdeviceptr rest = 0;
        REQUIRE_OK(cuMemAlloc(&rest, 918 * kMiB));
        CUmodule module = nullptr;
        REQUIRE_EQ(cuModuleLoadData(&module, std::string(6 * kMiB, 'x').c_str()), CUDA_ERROR_OUT_OF_MEMORY);
        unsetenv("CUDA_MODULE_LOADING");
        module = load(std::string(6 * kMiB, 'x'));
        CUfunction function = nullptr;
        REQUIRE_EQ(cuModuleGetFunction(&function, module, "busy"), CUDA_ERROR_OUT_OF_MEMORY);
    });
    ASSERT_EQ(child.hear(), 'e');
    EXPECT_EQ(device.use(child.pid()).module_bytes, 4 * kMiB);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

TEST(CodeMemory, LimitsTakeTheirsAtTheNextLaunch) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        const CUfunction busy = busy_of(load("image"));
        std::size_t value = 0;
        REQUIRE_OK(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
        REQUIRE_EQ(value, 8 * kMiB);
        REQUIRE_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * kMiB));
        REQUIRE_OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4 * kMiB));
        line.say('s');
        line.wait();
        REQUIRE_OK(launch(busy));
        line.say('l');
        line.wait();
        REQUIRE_OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 2000 * kMiB));
        REQUIRE_EQ(launch(busy), CUDA_ERROR_OUT_OF_MEMORY);
    });
    ASSERT_EQ(child.hear(), 's');
    EXPECT_EQ(device.use(child.pid()).context_bytes, 100 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 'l');
    EXPECT_EQ(device.use(child.pid()).context_bytes, 100 * kMiB + 56 * kMiB + 2 * kMiB);
    EXPECT_EQ(device.use(child.pid()).module_bytes, 2 * kMiB);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

CUfunction function_of(CUmodule module, const char* name) {
    CUfunction found = nullptr;
    REQUIRE_OK(cuModuleGetFunction(&found, module, name));
    return found;
}

TEST(LocalMemory, IsTakenByTheFirstLaunchAndStaysUntilAKernelNeedsMore) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUmodule module = load("image");
        const auto function = [&](const char* name) { return function_of(module, name); };
        const auto launches = [&](const char* name, char step) {
            REQUIRE_OK(launch(function(name)));
            line.say(step);
            line.wait();
        };
        int bytes = 0;
        REQUIRE_OK(
            cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function("_Z10local_1664y")));
        REQUIRE_EQ(bytes, 1664);
        REQUIRE_OK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function("busy")));
        REQUIRE_EQ(bytes, 0);
        line.say('f');
        line.wait();
        launches("local_1024", 'n');
        launches("local_1664", 'l');
        launches("local_1344", 's');
        launches("busy", 'b');
        launches("local_2304", 'g');
        REQUIRE_EQ(launch(function("local_65536")), CUDA_ERROR_OUT_OF_MEMORY);
        CUfunction none = nullptr;
        for (const char* name : {"local", "local_", "local_0", "local_1x", "local_524289"})
            REQUIRE_EQ(cuModuleGetFunction(&none, module, name), CUDA_ERROR_NOT_FOUND);
        CUcontext other = nullptr;
        REQUIRE_OK(cuCtxCreate(&other, nullptr, 0, 0));
        module = load("another image");
        launches("local_1344", 'o');
        REQUIRE_OK(cuCtxDestroy(other));
        line.say('d');
        line.wait();
        REQUIRE_OK(cuDevicePrimaryCtxReset(0));
        line.say('r');
        line.wait();
    });
    // 640 bytes beyond the standard stack for each of the GPU's 80 * 2048 threads are 100 MiB.
    const auto expect = [&](char step, std::uint64_t contexts, std::uint64_t local) {
        ASSERT_EQ(child.hear(), step);
        EXPECT_EQ(device.use(child.pid()).context_bytes, (contexts + local) * kMiB) << step;
        child.tell();
    };
    expect('f', 100, 0);
    expect('n', 100, 0);
    expect('l', 100, 100);
    expect('s', 100, 100);
    expect('b', 100, 100);
    expect('g', 100, 200);
    expect('o', 200, 250);
    expect('d', 100, 200);
    expect('r', 0, 0);
    EXPECT_EQ(child.wait(), 0);
}

TEST(LocalMemory, CodeThatCallsIntoTheDriversOwnMakesAllStacksLarger) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUmodule module = load("image");
        const auto function = [&](const char* name) { return function_of(module, name); };
        const auto step = [&](char name) {
            line.say(name);
            line.wait();
        };
        int registers = 0;
        REQUIRE_OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function("stacks_320")));
        step('a');
        REQUIRE_OK(launch(function("stacks_160")));
        step('s');
        REQUIRE_OK(launch(function("local_1344")));
        step('l');
    });
    // 320 bytes for each of the GPU's 80 * 2048 threads are 50 MiB.
    const auto expect = [&](char step, std::uint64_t beyond) {
        ASSERT_EQ(child.hear(), step);
        EXPECT_EQ(device.use(child.pid()).context_bytes, (100 + beyond) * kMiB) << step;
        child.tell();
    };
    expect('a', 50);
    expect('s', 50);
    expect('l', 100);
    EXPECT_EQ(child.wait(), 0);
}

TEST(LocalMemory, IsTakenForAGraphsKernelsBeforeTheFirst) {
    TestDevice device(1);
    Child child([](const Child::Line& line) {
        use_device(0);
        CUfunction function = nullptr;
        REQUIRE_OK(cuModuleGetFunction(&function, load("image"), "local_1664"));
        CUstream stream = nullptr;
        REQUIRE_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        REQUIRE_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        unsigned long long microseconds = 1;
        void* parameters[] = {&microseconds};
        REQUIRE_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
        CUgraph graph = nullptr;
        REQUIRE_OK(cuStreamEndCapture(stream, &graph));
        CUgraphExec exec = nullptr;
        REQUIRE_OK(cuGraphInstantiate(&exec, graph, 0));
        line.say('i');
        line.wait();
        REQUIRE_OK(cuGraphLaunch(exec, stream));
        line.say('l');
        line.wait();
    });
    ASSERT_EQ(child.hear(), 'i');
    EXPECT_EQ(device.use(child.pid()).context_bytes, 100 * kMiB);
    child.tell();
    ASSERT_EQ(child.hear(), 'l');
    EXPECT_EQ(device.use(child.pid()).context_bytes, 200 * kMiB);
    child.tell();
    EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace simgpu::test
