#include "tests/unit/module/front/swap/front_switch_fixture.hpp"

namespace {

TEST_F(FrontSwitch, TheDaemonIsToldWhichEngineRuns) {
    start();
    EXPECT_TRUE(eventually([&] { return daemon().told_running == 1; }));
    EXPECT_EQ(running(), kPresent);
}

TEST_F(FrontSwitch, WhatIsHeldComesAlongThereAndBack) {
    daemon().limit_bytes = kContextEstimate + 100 * kMiB;
    start();
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    ASSERT_EQ(allocate(60 * kMiB, &first), 0);
    ASSERT_EQ(go_to_next(), Result::done) << detail();
    EXPECT_EQ(running(), kNext);
    EXPECT_TRUE(is_mapped("next.so"));
    EXPECT_FALSE(is_mapped("present.so"));
    EXPECT_EQ(allocate(60 * kMiB, &second), kOutOfMemory);
    ASSERT_EQ(allocate(40 * kMiB, &second), 0);
    ASSERT_EQ(go_to_present(), Result::done) << detail();
    EXPECT_EQ(running(), kPresent);
    EXPECT_FALSE(is_mapped("next.so"));
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 100 * kMiB; }));
    ASSERT_EQ(free(first), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 40 * kMiB; }));
    ASSERT_EQ(free(second), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
    EXPECT_EQ(heap_bytes(), 0u);
}

TEST_F(FrontSwitch, TheEngineThatRunsNeedsNoExchange) {
    start();
    EXPECT_EQ(go_over("not there.so", kPresent), Result::done);
    EXPECT_EQ(daemon().switched_held_ns, 0u);
}

TEST_F(FrontSwitch, MeasuringGoesOn) {
    daemon().gate = 1;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(200'000);
    const auto began = begin_measuring();
    for (int i = 0; i < 500; ++i) {
        ASSERT_EQ(launch(), 0);
        if (i % 100 != 50) continue;
        ASSERT_EQ(i % 200 == 50 ? go_to_next() : go_to_present(), Result::done) << detail();
    }
    ASSERT_EQ(call<int()>("cuCtxSynchronize")(), 0);
    // 500 kernels of 200 µs, one after the other.
    expect_used(95'000'000, 130'000'000, began);
}

TEST_F(FrontSwitch, LaunchesThatWaitAtTheGateGoOnInTheNextEngine) {
    daemon().gate = 0;
    start();
    std::thread program([&] {
        call<int(void*)>("cuCtxSetCurrent")(context_);
        EXPECT_EQ(launch(), 0);
    });
    ASSERT_TRUE(eventually([&] { return daemon().rings > 0; }));
    ASSERT_EQ(go_to_next(), Result::done) << detail();
    EXPECT_EQ(launches(), 0);
    EXPECT_TRUE(eventually([&] { return daemon().wants == 1; }));
    daemon().gate = 1;
    program.join();
    EXPECT_EQ(launches(), 1);
    EXPECT_TRUE(eventually([&] { return daemon().wants == 0; }));
}

std::function<void()> while_loading;

/// A library's constructor runs under the loader's lock, for any length of time.
TEST_F(FrontSwitch, ALibraryThatIsBeingLoadedHoldsNothingUp) {
    daemon().gate = 1;
    start();
    behind<void(std::int64_t)>("fake_set_kernel_ns")(1'000'000);
    while_loading = [&] {
        order("next.so", kNext);
        ASSERT_TRUE(eventually([&] { return daemon().switch_request == 0; }));
        EXPECT_EQ(launch(), 0);
        EXPECT_TRUE(eventually([&] { return daemon().used_ns > 0; }));  // the front's thread calls the driver
        std::uint64_t address = 0;
        EXPECT_EQ(allocate(512 * kMiB, &address), 0);  // the daemon's answer is read meanwhile
        EXPECT_EQ(free(address), 0);
        EXPECT_EQ(running(), kPresent);
    };
    ASSERT_NE(dlopen(CGPU_TEST_LOADING_LIBRARY, RTLD_NOW), nullptr) << dlerror();
    ASSERT_TRUE(eventually([&] { return daemon().switched_request == request_; }));
    EXPECT_EQ(running(), kNext) << detail();
}

TEST_F(FrontSwitch, AnotherDaemonHearsWhatRunsNow) {
    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    ASSERT_EQ(go_to_next(), Result::done) << detail();
    take_daemon_down();
    daemon().running_version = 0;
    daemon().down = 0;
    ASSERT_TRUE(eventually([&] { return daemon().told_running == 2; }));
    EXPECT_EQ(running(), kNext);  // whatever its Welcome named
    ASSERT_EQ(go_to_present(), Result::done) << detail();
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 64 * kMiB; }));
}

/// Whatever is wrong with the file: the present engine stays, with its complete state, and can be exchanged
/// later.
TEST_F(FrontSwitch, NothingHappensToTheOldEngineWhereTheNewOneIsNoGood) {
    std::filesystem::path engines = CGPU_TEST_ENGINES;
    std::filesystem::path cut = engines / "cut.so";
    std::filesystem::path text = engines / "text.so";
    std::filesystem::path foreign = engines / "foreign.so";
    std::filesystem::copy_file(engines / "next.so", cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, 5000);
    std::ofstream(text) << "no library\n";
    std::filesystem::copy_file(engines / "next.so", foreign,
                               std::filesystem::copy_options::overwrite_existing);
    std::fstream(foreign, std::ios::in | std::ios::out | std::ios::binary).seekp(18).put('\xb7');  // AArch64

    start();
    std::uint64_t address = 0;
    ASSERT_EQ(allocate(64 * kMiB, &address), 0);
    struct Case {
        const char* file;
        std::uint32_t version;
        Result result;
    };
    const Case cases[] = {
        {"missing.so", kNext, Result::not_loadable},    {"cut.so", kNext, Result::not_loadable},
        {"text.so", kNext, Result::not_loadable},       {"foreign.so", kNext, Result::not_loadable},
        {"no_engine.so", kNext, Result::not_loadable},  {"../engines/next.so", kNext, Result::not_loadable},
        {"/etc/passwd", kNext, Result::not_loadable},   {"other_abi.so", kNext, Result::other_abi},
        {"short_table.so", kNext, Result::other_abi},   {"next.so", kNext + 1, Result::other_version},
        {"present.so", kNext, Result::other_version},   {"failing_restore.so", kNext, Result::self_check},
        {"other_charge.so", kNext, Result::self_check}, {"other_lease.so", kNext, Result::self_check},
    };
    for (const Case& each : cases) {
        EXPECT_EQ(go_over(each.file, each.version), each.result) << each.file << ": " << detail();
        EXPECT_NE(detail(), "") << each.file;
        EXPECT_EQ(running(), kPresent) << each.file;
        EXPECT_TRUE(is_mapped("present.so"));
        EXPECT_EQ(is_mapped(each.file), std::string(each.file) == "present.so") << each.file;
    }
    EXPECT_EQ(daemon().charged_bytes, 64 * kMiB);
    EXPECT_EQ(go_to_next(), Result::done) << detail();
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 64 * kMiB; }));
    EXPECT_EQ(free(address), 0);
    EXPECT_TRUE(eventually([&] { return daemon().charged_bytes == 0; }));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void front_test_while_loading() {
    if (while_loading) while_loading();
}
