// What modules and the limits of a context take of the card.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/sim/test/support/support.hpp"

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

CUresult launch(CUfunction busy) {
    unsigned long long microseconds = 1;
    void* parameters[] = {&microseconds};
    return cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr);
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

}  // namespace
}  // namespace simgpu::test
