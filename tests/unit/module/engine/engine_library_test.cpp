#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/module/engine/support/engine_fixture.hpp"

namespace cgpu::module::test {
namespace {

TEST(EngineLibrary, IsUsedThroughItsTableAndUnmappedAfterwards) {
    void* library = dlopen(CGPU_ENGINE_FILE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto get = reinterpret_cast<EngineTableFunction>(dlsym(library, kEngineTableSymbol));
    ASSERT_NE(get, nullptr);
    const EngineTable* table = get();
    EXPECT_EQ(table->abi, kEngineAbi);
    EXPECT_EQ(table->bytes, sizeof(EngineTable));
    EXPECT_EQ(table->version, CGPU_ENGINE_VERSION);
    // Every entry is set.
    const auto* entry = reinterpret_cast<const char*>(table) + offsetof(EngineTable, create);
    for (; entry < reinterpret_cast<const char*>(table + 1); entry += sizeof(void*)) {
        void* function = nullptr;
        std::memcpy(&function, entry, sizeof function);
        EXPECT_NE(function, nullptr);
    }

    const std::int64_t held_before = allocations_held;
    const EngineHost memory = host();
    Engine* engine = table->create(&memory);
    ASSERT_NE(engine, nullptr);
    Pages pages;
    table->bind(engine, &pages.orders, &pages.reports);
    table->lease(engine, 0, 4 * wire::kGranule);
    EXPECT_EQ(table->reserve(engine, 0, 3 << 20), 0u);
    table->commit(engine, 0, Holding::address, 0x7f0000000000, 3 << 20, 3 << 20);
    std::uint32_t gpu = 9;
    std::uint64_t bytes = 0;
    EXPECT_EQ(table->find(engine, Holding::address, 0x7f0000000000, &gpu, &bytes), 1u);
    EXPECT_EQ(gpu, 0u);
    EXPECT_EQ(bytes, 3u << 20);
    EXPECT_EQ(pages.reports.gpus[0].charged_bytes, 4u << 20);
    EXPECT_EQ(table->find(engine, static_cast<Holding>(7), 1, &gpu, &bytes), 0u);
    TimeRequest request{{0, 0, 1, 2, 3, 1000}, 0, 0, 0, 0};
    TimeGrant grant{};
    table->request_time(engine, &request, &grant);
    EXPECT_EQ(grant.decision.act, Act::launch);
    request.launch.gpu = wire::kMaxGpus;
    table->request_time(engine, &request, &grant);
    EXPECT_EQ(grant.decision.act, Act::pass);
    table->destroy(engine);
    EXPECT_EQ(allocations_held, held_before);

    ASSERT_EQ(dlclose(library), 0);
    EXPECT_EQ(dlopen(CGPU_ENGINE_FILE, RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(EngineLibrary, WithoutMemoryThereIsNoEngine) {
    void* library = dlopen(CGPU_ENGINE_FILE, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const EngineTable* table = reinterpret_cast<EngineTableFunction>(dlsym(library, kEngineTableSymbol))();
    const EngineHost none{[](std::uint64_t) -> void* { return nullptr; }, [](void*) {}};
    EXPECT_EQ(table->create(&none), nullptr);
    dlclose(library);
}

}  // namespace
}  // namespace cgpu::module::test
