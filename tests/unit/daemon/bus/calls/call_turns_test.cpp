#include "daemon/bus/calls/call_turns.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::bus::test {
namespace {

struct Close {
    void operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }
};
using Client = std::unique_ptr<sd_bus, Close>;
using Answers = std::map<std::string, int>;  ///< how many, by the name of the error

Client connect() {
    sd_bus* opened = nullptr;
    EXPECT_GE(sd_bus_open_system(&opened), 0);
    return Client(opened);
}

int count(sd_bus_message* reply, void* to, sd_bus_error*) {
    const sd_bus_error* error = sd_bus_message_get_error(reply);
    ++(*static_cast<Answers*>(to))[error != nullptr ? error->name : "no error"];
    return 0;
}

/// A daemon without any object, so sd-bus answers the calls that are let through: there is no such object.
class CallTurnsTest : public testing::Test {
  protected:
    void call(const Client& client, Answers& answers, int times = 1) {
        for (int i = 0; i < times; ++i)
            EXPECT_GE(sd_bus_call_method_async(client.get(), nullptr, server_->getUniqueName().c_str(), "/a",
                                               "a.b", "C", count, &answers, nullptr),
                      0);
    }
    bool step() {
        const bool did = compat::process_one(*server_);
        return did || turns_.let_through(++now_);
    }
    /// Runs the daemon and the clients until the condition holds.
    template <class Condition>
    bool run_until(const std::vector<sd_bus*>& clients, Condition holds) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            bool did = step();
            for (sd_bus* client : clients) did |= sd_bus_process(client, nullptr) > 0;
            if (!did) poll(nullptr, 0, 1);
        }
        return true;
    }
    static int sum(const Answers& answers) {
        int all = 0;
        for (const auto& [name, times] : answers) all += times;
        return all;
    }

    cgpu::test::PrivateBus bus_;
    std::unique_ptr<sdbus::IConnection> server_ = sdbus::createSystemBusConnection();
    Callers callers_;
    CallTurns turns_{*server_, callers_};
    model::Nanos now_ = 0;
};

constexpr const char* kNoObject = "org.freedesktop.DBus.Error.UnknownObject";
constexpr const char* kBusy = "org.cgpu1.Error.Busy";

TEST_F(CallTurnsTest, CallsAreAnsweredInTheirOrderAndTheCallerIsKnown) {
    const auto client = connect();
    const char* name = nullptr;
    ASSERT_GE(sd_bus_get_unique_name(client.get(), &name), 0);
    Answers answers;
    call(client, answers, 20);
    EXPECT_TRUE(run_until({client.get()}, [&] { return sum(answers) == 20; }));
    EXPECT_EQ(answers[kNoObject], 20);
    const auto caller = callers_.find(name);
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->uid, geteuid());
    EXPECT_EQ(caller->pid, getpid());
}

TEST_F(CallTurnsTest, MoreThanAFewCallsOfAConnectionThatIsntKnownYetAreRefused) {
    int refused = 0;
    turns_.on_too_many([&] { ++refused; });
    const auto client = connect();
    Answers answers;
    call(client, answers, 100);
    sd_bus_flush(client.get());
    EXPECT_TRUE(run_until({client.get()}, [&] { return answers[kNoObject] + refused == 100; }));
    EXPECT_GE(answers[kNoObject], 32);
    EXPECT_EQ(answers[kNoObject] + answers[kBusy], sum(answers));
}

TEST_F(CallTurnsTest, NoCallIsBegunWhileTheBusHasntReadTheAnswers) {
    const auto client = connect();
    Answers answers;
    call(client, answers, 30);
    sd_bus_flush(client.get());
    ASSERT_TRUE(run_until({}, [&] { return turns_.has_waiting(); }));
    // The bus reads meanwhile, so only the rule is checked: what is let through is one call, until it is
    // handled.
    ASSERT_TRUE(turns_.let_through(++now_));
    EXPECT_FALSE(turns_.let_through(++now_));
    EXPECT_TRUE(run_until({client.get()}, [&] { return sum(answers) == 30; }));
}

TEST_F(CallTurnsTest, CallsOfAConnectionThatIsGoneAreDropped) {
    Answers unread;
    auto gone = connect();
    call(gone, unread, 30);
    sd_bus_flush(gone.get());
    gone.reset();
    const auto client = connect();
    Answers answers;
    call(client, answers);
    EXPECT_TRUE(run_until({client.get()}, [&] { return sum(answers) == 1; }));
    EXPECT_EQ(answers[kNoObject], 1);
    EXPECT_FALSE(turns_.has_waiting());
}

}  // namespace
}  // namespace cgpu::bus::test
