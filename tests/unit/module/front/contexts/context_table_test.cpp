#include "module/front/contexts/context_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using namespace cgpu::front;

/// Contexts are made and destroyed by one thread, each on the other GPU than the one before, so that they get
/// the same entry. ThreadSanitizer sees what the other threads read of it.
TEST(ContextTable, ThreadsThatSearchItSeeNoContextOfAnotherGpu) {
    constexpr int kContexts = 50'000;
    static ContextTable table;  // its entries live as long as the process
    std::atomic<bool> done{false};
    std::atomic<int> seen{0};
    std::atomic<int> wrong{0};
    const auto search = [&](int gpu) {
        while (!done) {
            table.for_each(gpu, [&](const Context& context) {
                ++seen;
                if (context.gpu != gpu) ++wrong;
            });
            table.primary_of(gpu);
            table.find_green(reinterpret_cast<CUgreenCtx>(1));
        }
    };
    std::thread first(search, 0);
    std::thread second(search, 1);
    int handles[2] = {};
    for (int i = 0; i < kContexts || seen == 0; ++i) {
        Context* context = table.add(reinterpret_cast<CUcontext>(&handles[i % 2]), i % 2, true);
        ASSERT_NE(context, nullptr);
        table.retire(*context);
        table.remove(*context);
    }
    done = true;
    first.join();
    second.join();
    EXPECT_EQ(wrong, 0) << "of " << seen;
}

}  // namespace
