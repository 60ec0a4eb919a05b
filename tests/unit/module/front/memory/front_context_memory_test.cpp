#include <string>
#include <vector>

#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

TEST_F(Front, EveryContextNeedsItsMemoryToo) {
    daemon().limit_bytes = kContextEstimate - 1;
    ASSERT_EQ(init(), 0);
    void* context = nullptr;
    EXPECT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)), kOutOfMemory);
    EXPECT_TRUE(eventually([&] { return daemon().refused_told == 1; }));
    daemon().limit_bytes = kContextEstimate + 64 * kMiB;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0)), 0);
    void* second = nullptr;
    EXPECT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&second, 0, 0)), kOutOfMemory);
    daemon().limit_bytes = 2 * kContextEstimate + 64 * kMiB;
    ASSERT_EQ((call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&second, 0, 0)), 0);
    EXPECT_EQ(daemon().context_bytes, 2 * kContextEstimate);
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    ASSERT_EQ((call<int(void*)>("cuCtxDestroy_v2")(second)), 0);  // with what was made in it
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
    EXPECT_EQ(daemon().contexts_gone, 0u);
    ASSERT_EQ((call<int(void*)>("cuCtxDestroy_v2")(context)), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_gone == 1; }));
}

TEST_F(Front, SoDoContextsForGraphicsAndVideo) {
    daemon().limit_bytes = kContextEstimate - 1;
    ASSERT_EQ(init(), 0);
    const auto create_all = [&](std::vector<void*>& contexts) {
        std::vector<int> results;
        for (const char* name : {"cuGLCtxCreate", "cuGLCtxCreate_v2"})
            results.push_back(call<int(void**, unsigned, int)>(name)(&contexts.emplace_back(), 0, 0));
        for (const char* name : {"cuVDPAUCtxCreate", "cuVDPAUCtxCreate_v2"})
            results.push_back(call<int(void**, unsigned, int, unsigned, void*)>(name)(
                &contexts.emplace_back(), 0, 0, 0, nullptr));
        return results;
    };
    std::vector<void*> contexts;
    EXPECT_EQ(create_all(contexts), std::vector<int>(4, kOutOfMemory));
    daemon().limit_bytes = 4 * kContextEstimate;
    contexts.clear();
    EXPECT_EQ(create_all(contexts), std::vector<int>(4, 0));
    EXPECT_EQ(daemon().context_bytes, 4 * kContextEstimate);
    for (void* context : contexts) EXPECT_EQ((call<int(void*)>("cuCtxDestroy_v2")(context)), 0);
    EXPECT_TRUE(eventually([&] { return daemon().context_bytes == 0; }));
}

TEST_F(Front, CodeIsSetAsideBeforeItIsLoaded) {
    daemon().limit_bytes = kContextEstimate + 40 * kMiB;
    start();
    const auto load = call<int(void**, const void*)>("cuModuleLoadData");
    const std::string large(50 * kMiB, 'x');
    const std::string small(10 * kMiB - 1, 'x');
    void* module = nullptr;
    EXPECT_EQ(load(&module, large.c_str()), kOutOfMemory);
    EXPECT_EQ(heap_bytes(), 0u) << "the driver was asked all the same";
    behind<void(int)>("fake_fail_next")(3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(load(&module, small.c_str()), kOutOfMemory);
    EXPECT_TRUE(eventually([&] { return daemon().context_bytes == kContextEstimate; }))
        << "nothing stays behind";
    ASSERT_EQ(load(&module, small.c_str()), 0);
    EXPECT_EQ(daemon().context_bytes, kContextEstimate + 10 * kMiB);
    // The unused part of this process's own lease is no reason to refuse code.
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(30 * kMiB, &address), 0);
    ASSERT_EQ(free(address), 0);
    void* second = nullptr;
    ASSERT_EQ(load(&second, small.c_str()), 0);
    ASSERT_EQ((call<int(void*)>("cuModuleUnload")(module)), 0);
    EXPECT_TRUE(eventually([&] { return daemon().moved_bytes == small.size(); }));
}

TEST_F(Front, LocalMemoryIsSetAsideBeforeTheLaunchThatTakesIt) {
    daemon().limit_bytes = kContextEstimate + 64 * kMiB;
    start();
    void* module = nullptr;
    ASSERT_EQ((call<int(void**, const void*)>("cuModuleLoadData")(&module, "code")), 0);
    const auto without = daemon().context_bytes.load();
    const auto launch_with_local = [&](std::size_t mib, const char* name) {
        void* function = nullptr;
        EXPECT_EQ((call<int(void**, void*, const char*)>("cuModuleGetFunction")(&function, module, name)), 0);
        behind<void(int)>("fake_set_local_bytes")(static_cast<int>(mib * kMiB));
        return call<LaunchKernel>("cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    };
    EXPECT_EQ(launch_with_local(100, "a"), kOutOfMemory);
    EXPECT_EQ(launches(), 0) << "the driver was asked all the same";
    EXPECT_EQ(daemon().context_bytes, without);
    ASSERT_EQ(launch_with_local(40, "a"), 0);
    EXPECT_EQ(daemon().context_bytes, without + 40 * kMiB);
    ASSERT_EQ(launch_with_local(40, "a"), 0);
    ASSERT_EQ(launch_with_local(30, "b"), 0) << "the context has it";
    EXPECT_EQ(daemon().context_bytes, without + 40 * kMiB);
    ASSERT_EQ(launch_with_local(50, "c"), 0);
    EXPECT_EQ(daemon().context_bytes, without + 50 * kMiB);
}

TEST_F(Front, ThePrimaryContextCountsOnce) {
    ASSERT_EQ(init(), 0);
    void* context = nullptr;
    const auto retain = call<int(void**, int)>("cuDevicePrimaryCtxRetain");
    const auto release = call<int(int)>("cuDevicePrimaryCtxRelease_v2");
    ASSERT_EQ(retain(&context, 0), 0);
    ASSERT_EQ(retain(&context, 0), 0);
    ASSERT_EQ(release(0), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_done == 1; }));
    EXPECT_EQ(daemon().contexts_gone, 0u);
    ASSERT_EQ(release(0), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_gone == 1; }));
    ASSERT_EQ(retain(&context, 0), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_done == 2; }));
}

TEST_F(Front, AContextForGraphicsIsOneToo) {
    daemon().limit_bytes = kContextEstimate - 1;
    ASSERT_EQ(init(), 0);
    void* context = nullptr;
    EXPECT_EQ((call<int(void**, unsigned, int)>("cuGLCtxCreate_v2")(&context, 0, 0)), kOutOfMemory);
}

class FrontGreen : public Front {
  protected:
    int create(void** green, int device = 0) const {
        return call<int(void**, void*, int, unsigned)>("cuGreenCtxCreate")(green, nullptr, device, 1);
    }
    int destroy(void* green) const { return call<int(void*)>("cuGreenCtxDestroy")(green); }
};

TEST_F(FrontGreen, TheFirstOneMakesThePrimaryContextWhichNeedsItsMemory) {
    daemon().limit_bytes = kContextEstimate - 1;
    ASSERT_EQ(init(), 0);
    void* green = nullptr;
    EXPECT_EQ(create(&green), kOutOfMemory);
    daemon().limit_bytes = kContextEstimate + kMiB;
    ASSERT_EQ(create(&green), 0);
    EXPECT_EQ(daemon().context_bytes, kContextEstimate);
    void* second = nullptr;
    ASSERT_EQ(create(&second), 0) << "a part of the same primary context";
    EXPECT_EQ(daemon().context_bytes, kContextEstimate);
    ASSERT_EQ(destroy(second), 0);
    EXPECT_EQ(daemon().contexts_gone, 0u);
    ASSERT_EQ(destroy(green), 0);
    EXPECT_TRUE(eventually([&] { return daemon().contexts_gone == 1; }))
        << "the primary context ended with it";
}

TEST_F(FrontGreen, TheirMemoryIsThePrimaryContexts) {
    daemon().limit_bytes = kContextEstimate + 64 * kMiB;
    ASSERT_EQ(init(), 0);
    void* primary = nullptr;
    ASSERT_EQ((call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&primary, 0)), 0);
    void* green = nullptr;
    ASSERT_EQ(create(&green), 0);
    ASSERT_EQ((call<int(void*)>("cuCtxPushCurrent_v2")(green)), 0);
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    ASSERT_EQ(destroy(green), 0);
    ASSERT_EQ((call<int(void*)>("cuCtxPushCurrent_v2")(primary)), 0);
    std::uint64_t another = 0;
    EXPECT_EQ(allocate(2 * kMiB, &another), kOutOfMemory) << "the memory is still there";
    ASSERT_EQ(free(address), 0);
    EXPECT_EQ(allocate(2 * kMiB, &another), 0);
}

TEST_F(FrontGreen, OneOfAnotherCardIsRefused) {
    ASSERT_EQ(init(), 0);
    void* green = nullptr;
    EXPECT_EQ(create(&green, 1), cgpu::front::kInvalidDevice);
}

}  // namespace
