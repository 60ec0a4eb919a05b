#include <atomic>
#include <thread>

#include "tests/unit/module/front/support/front_fixture.hpp"

namespace {

using FrontContexts = Front;

/// ThreadSanitizer sees what they share.
TEST_F(FrontContexts, ThreadsMakeThemOnOneGpuAtOnce) {
    ASSERT_EQ(init(), 0);
    // This daemon counts contexts until the last one is gone.
    daemon().limit_bytes = std::uint64_t{1} << 50;
    std::atomic<int> failed{0};
    const auto make_some = [&] {
        constexpr int kContexts = 200;
        for (int i = 0; i < kContexts; ++i) {
            void* context = nullptr;
            const int bad = call<int(void**, unsigned, int)>("cuCtxCreate_v2")(&context, 0, 0);
            if (bad != 0 || call<int(void*)>("cuCtxDestroy_v2")(context) != 0) ++failed;
        }
    };
    std::thread first(make_some);
    std::thread second(make_some);
    first.join();
    second.join();
    EXPECT_EQ(failed, 0);
    EXPECT_TRUE(eventually([&] { return daemon().context_bytes == 0; }));
}

}  // namespace
