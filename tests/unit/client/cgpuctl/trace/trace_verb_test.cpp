#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "client/cgpuctl/trace/trace.hpp"
#include "core/trace/record.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

using ErrorKind = client::ClientError::Kind;

class TraceVerbTest : public VerbTest<TraceInput> {
  protected:
    TraceVerbTest() {
        std::array<int, 2> ends{};
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
        node_.trace_socket = ends[0];
        cgpud_ = ends[1];
        input_.gpu = "0";
        input_.output = file_.string();
        send({trace::Kind::start, 0, 1, 1, {}, "GPU-0\nV100\nweighted"});
        send({trace::Kind::instance, 1, 1, 1, {}, "0123\nweb"});
    }
    ~TraceVerbTest() override {
        hang_up();
        std::filesystem::remove(file_);
    }
    TraceVerbTest(const TraceVerbTest&) = delete;
    TraceVerbTest& operator=(const TraceVerbTest&) = delete;

    void send(const trace::Record& record) const {
        std::vector<std::byte> bytes;
        trace::encode(record, bytes);
        EXPECT_EQ(write(cgpud_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    }
    void send_end() const {
        send({trace::Kind::end, 0, 1, 2'000'000'001, {6'000'000, 4, dropped_, 4'000'000}, {}});
    }
    void hang_up() {
        if (cgpud_ >= 0) close(cgpud_);
        cgpud_ = -1;
    }
    [[nodiscard]] nlohmann::json file() const { return nlohmann::json::parse(std::ifstream(file_)); }

    int cgpud_ = -1;
    std::int64_t dropped_ = 0;
    std::filesystem::path file_ =
        std::filesystem::temp_directory_path() / ("trace-" + std::to_string(getpid()) + ".json");
};

TEST_F(TraceVerbTest, WritesTheFileAndSaysWhatItCost) {
    input_.seconds = "7";
    send_end();
    hang_up();
    ASSERT_TRUE(call(&trace_verb));
    EXPECT_EQ(node_.calls, std::vector<std::string>{"start_trace 0 7"});
    EXPECT_EQ(file()["otherData"]["complete"], true);
    EXPECT_EQ(screen_.out.str(),
              file_.string() +
                  ": 2s of GPU 0 with 1 instance, 3 records. It took 10ms of cgpud's time (0.5% of one "
                  "CPU). https://ui.perfetto.dev opens it.\n");
}

TEST_F(TraceVerbTest, WritesNothingElseToStandardOutput) {
    input_.output = "-";
    dropped_ = 2;
    send_end();
    hang_up();
    ASSERT_TRUE(call(&trace_verb));
    EXPECT_EQ(nlohmann::json::parse(screen_.out.str())["otherData"]["records_dropped"], 2);
    EXPECT_NE(screen_.err.str().find("2 records were lost"), std::string::npos);
}

TEST_F(TraceVerbTest, ATraceThatBreaksOffIsAnErrorAndAFile) {
    hang_up();
    const auto done = call(&trace_verb);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find("broke off, because cgpud has ended"), std::string::npos);
    EXPECT_EQ(file()["otherData"]["complete"], false);
}

TEST_F(TraceVerbTest, WhatIsNoRecordIsFoundOut) {
    EXPECT_EQ(write(cgpud_, std::string(100, '\0').data(), 100), 100);
    const auto done = call(&trace_verb);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find("can't be read"), std::string::npos);
    EXPECT_FALSE(file()["traceEvents"].empty());
}

TEST_F(TraceVerbTest, ASignalEndsItWell) {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
    // As cgpud does: it ends the trace when the sending side of the other end is shut down.
    std::thread cgpud([this] {
        char nothing = 0;
        kill(getpid(), SIGINT);
        EXPECT_EQ(read(cgpud_, &nothing, 1), 0);
        send_end();
        hang_up();
    });
    const auto done = call(&trace_verb);
    cgpud.join();
    pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
    ASSERT_TRUE(done);
    EXPECT_EQ(file()["otherData"]["complete"], true);
}

TEST_F(TraceVerbTest, RefusalsLeaveTheFileAsItIs) {
    std::ofstream(file_) << "old";
    node_.answer = client::fail(ErrorKind::refused, "a trace of GPU 0: it is traced already. Try: again.");
    EXPECT_FALSE(call(&trace_verb));
    std::string text;
    std::ifstream(file_) >> text;
    EXPECT_EQ(text, "old");
}

TEST_F(TraceVerbTest, WrongOptionsAreUsageErrors) {
    for (const char* seconds : {"0", "3601", "x"}) {
        input_.seconds = seconds;
        const auto done = call(&trace_verb);
        ASSERT_FALSE(done);
        EXPECT_EQ(done.error().kind, ErrorKind::usage);
    }
    input_.seconds.clear();
    input_.output.clear();
    const auto done = call(&trace_verb);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::usage);
    EXPECT_TRUE(node_.calls.empty());
}

TEST_F(TraceVerbTest, AFileThatCantBeOpenedIsNamed) {
    input_.output = "/nowhere/trace.json";
    const auto done = call(&trace_verb);
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().text.find("/nowhere/trace.json"), std::string::npos);
    EXPECT_NE(done.error().text.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace cgpu::cgpuctl
