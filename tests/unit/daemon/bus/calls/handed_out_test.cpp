#include "daemon/bus/calls/handed_out.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <systemd/sd-bus.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::bus::test {
namespace {

struct Receiving {
    struct Unref {
        void operator()(sd_bus* opened) const { sd_bus_flush_close_unref(opened); }
    };
    std::unique_ptr<sd_bus, Unref> bus;
    compat::Caller caller;
};

class HandedOutTest : public testing::Test {
  protected:
    static Receiving receiver(uid_t user) {
        Receiving its;
        sd_bus* opened = nullptr;
        EXPECT_GE(sd_bus_open_system(&opened), 0);
        its.bus.reset(opened);
        const char* name = nullptr;
        EXPECT_GE(sd_bus_get_unique_name(opened, &name), 0);
        its.caller.uid = user;
        its.caller.name = name;
        return its;
    }
    bool has_room(const compat::Caller& caller) const {
        return handed_out_.room_for("OpenHistory", caller).has_value();
    }
    /// Gives it as many as it gets; they are counted.
    std::size_t give(const compat::Caller& caller) {
        std::size_t given = 0;
        for (; given < 100 && has_room(caller); ++given) handed_out_.add(caller);
        return given;
    }
    /// Runs the daemon until the condition holds.
    template <class Condition>
    bool run_until(Condition holds) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            if (!compat::process_one(*server_)) poll(nullptr, 0, 1);
        }
        return true;
    }

    cgpu::test::PrivateBus bus_;
    std::unique_ptr<sdbus::IConnection> server_ = sdbus::createSystemBusConnection();
    HandedOut handed_out_{*server_};
};

TEST_F(HandedOutTest, AConnectionGetsAFewAndIsToldWhatToDo) {
    const auto its = receiver(1000);
    EXPECT_EQ(give(its.caller), HandedOut::kMostOfConnection);
    const auto refused = handed_out_.room_for("OpenHistory", its.caller);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, model::Refusal::Reason::busy);
    EXPECT_EQ(
        refused.error().text,
        "OpenHistory: as many descriptors as allowed were sent to this connection to the bus, and cgpud "
        "can't know whether they have been read. Try: connect to the bus anew for each call.");
}

TEST_F(HandedOutTest, ManyConnectionsGetNoMoreThanTheirUserMayHave) {
    std::vector<Receiving> all;
    std::size_t given = 0;
    for (int i = 0; i < 6; ++i) {
        all.push_back(receiver(1000));
        given += give(all.back().caller);
    }
    EXPECT_EQ(given, HandedOut::kMostOfOneUser);
    EXPECT_TRUE(has_room(receiver(1001).caller));
}

TEST_F(HandedOutTest, ManyUsersLeaveRoomOnTheBusAndDontHinderRoot) {
    std::vector<Receiving> all;
    std::size_t given = 0;
    for (uid_t user = 1000; user < 1020; ++user) {
        all.push_back(receiver(user));
        given += give(all.back().caller);
    }
    EXPECT_EQ(given, HandedOut::kMostOfOthers);
    EXPECT_TRUE(has_room(receiver(0).caller));
}

TEST_F(HandedOutTest, WhatAConnectionGotIsForgottenWithIt) {
    auto its = receiver(1000);
    auto other = receiver(1000);
    EXPECT_EQ(give(its.caller) + give(other.caller), HandedOut::kMostOfOneUser);
    EXPECT_FALSE(has_room(receiver(1000).caller));
    its.bus.reset();
    EXPECT_TRUE(run_until([&] { return has_room(receiver(1000).caller); }));
    EXPECT_FALSE(has_room(other.caller));
}

TEST_F(HandedOutTest, AConnectionThatHadEndedBeforeItWasWatchedIsForgotten) {
    auto its = receiver(1000);
    its.bus.reset();
    EXPECT_EQ(give(its.caller), HandedOut::kMostOfConnection);
    EXPECT_TRUE(run_until([&] { return has_room(its.caller); }));
}

}  // namespace
}  // namespace cgpu::bus::test
