#include "client/node/bus_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::client {
namespace {

using std::chrono::milliseconds;
using Woke = JobWatch::Woke;

constexpr const char* kJob = "/org/cgpu1/job/3";
constexpr const char* kOther = "/org/cgpu1/job/4";
/// Longer than any test lasts; a lost wake-up shows as a timeout.
constexpr milliseconds kLong{20'000};

/// The daemon's signals on the bus.
class Daemon {
  public:
    Daemon() { connection_->requestName(compat::ServiceName("org.cgpu1")); }

    void job_changed(const char* path) {
        emit(path, "org.freedesktop.DBus.Properties", "PropertiesChanged", std::string("org.cgpu1.Job"),
             std::map<std::string, sdbus::Variant>(), std::vector<std::string>{"State"});
    }
    void job_removed(const char* path, const char* result) {
        emit("/org/cgpu1", "org.cgpu1.Manager", "JobRemoved", std::uint64_t{3}, sdbus::ObjectPath(path),
             std::string(result));
    }

    void removed(const char* path) {
        emit("/org/cgpu1", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", sdbus::ObjectPath(path),
             std::vector<std::string>{"org.cgpu1.Instance"});
    }

  private:
    template <class... Values>
    void emit(const char* path, const char* interface, const char* name, const Values&... values) {
        const auto object = sdbus::createObject(*connection_, sdbus::ObjectPath(path));
        object->emitSignal(name).onInterface(interface).withArguments(values...);
        // The signal is on the bus when a later call is answered.
        sdbus::createProxy(*connection_, compat::ServiceName("org.freedesktop.DBus"),
                           sdbus::ObjectPath("/org/freedesktop/DBus"))
            ->callMethod("GetId")
            .onInterface("org.freedesktop.DBus");
    }

    std::unique_ptr<sdbus::IConnection> connection_ = sdbus::createSystemBusConnection();
};

TEST(BusInstanceWatchTest, EndsOfInstancesAndTheDaemonsOwnWakeIt) {
    const cgpu::test::PrivateBus bus;
    std::optional<Daemon> daemon(std::in_place);
    const auto connection = sdbus::createSystemBusConnection();
    BusInstanceWatch watch(*connection);
    daemon->removed("/org/cgpu1/job/3");
    EXPECT_EQ(watch.wait(-1, milliseconds(200)), Woke::timeout);
    daemon->removed("/org/cgpu1/instance/abc");
    EXPECT_EQ(watch.wait(-1, kLong), Woke::changed);
    EXPECT_EQ(watch.wait(-1, milliseconds(0)), Woke::timeout) << "once";
    daemon.reset();
    EXPECT_EQ(watch.wait(-1, kLong), Woke::changed);
    daemon.emplace();
    EXPECT_EQ(watch.wait(-1, kLong), Woke::changed);
}

class BusJobWatchTest : public testing::Test {
  protected:
    BusJobWatchTest() { EXPECT_EQ(pipe(interrupt_.data()), 0); }
    ~BusJobWatchTest() override {
        for (const int end : interrupt_) close(end);
    }
    /// A lost wake-up shows as a timeout, an undue one as `changed`.
    Woke wait(milliseconds most = kLong) { return watch_.wait(interrupt_[0], most); }

    cgpu::test::PrivateBus bus_;
    std::array<int, 2> interrupt_{};
    std::optional<Daemon> daemon_{std::in_place};
    std::unique_ptr<sdbus::IConnection> connection_ = sdbus::createSystemBusConnection();
    BusJobWatch watch_{*connection_, kJob};
};

TEST_F(BusJobWatchTest, WhatWasSaidBeforeItWaitsIsHeard) {
    daemon_->job_changed(kJob);
    EXPECT_EQ(wait(), Woke::changed);
    EXPECT_EQ(wait(milliseconds(0)), Woke::timeout) << "once";
}

TEST_F(BusJobWatchTest, WhatCameDuringACallIsHeard) {
    daemon_->job_changed(kJob);
    // The answer to this comes after the signal, so the signal is then in the connection's queue, not in its
    // socket.
    sdbus::createProxy(*connection_, compat::ServiceName("org.freedesktop.DBus"),
                       sdbus::ObjectPath("/org/freedesktop/DBus"))
        ->callMethod("GetId")
        .onInterface("org.freedesktop.DBus");
    EXPECT_EQ(wait(), Woke::changed);
}

TEST_F(BusJobWatchTest, TheEndIsToldWithItsResult) {
    EXPECT_FALSE(watch_.result());
    daemon_->job_removed(kJob, "failed");
    EXPECT_EQ(wait(), Woke::changed);
    EXPECT_EQ(watch_.result(), "failed");
}

TEST_F(BusJobWatchTest, OtherJobsDoNotWakeIt) {
    daemon_->job_changed(kOther);
    daemon_->job_removed(kOther, "done");
    EXPECT_EQ(wait(milliseconds(200)), Woke::timeout);
    EXPECT_FALSE(watch_.result());
}

TEST_F(BusJobWatchTest, ADaemonThatGoesAndComesWakesItTwice) {
    daemon_.reset();
    EXPECT_EQ(wait(), Woke::changed);
    daemon_.emplace();
    EXPECT_EQ(wait(), Woke::changed);
    daemon_->job_changed(kJob);
    EXPECT_EQ(wait(), Woke::changed) << "the next one is heard as well";
}

TEST_F(BusJobWatchTest, AnInterruptWakesIt) {
    ASSERT_EQ(write(interrupt_[1], "x", 1), 1);
    EXPECT_EQ(watch_.wait(interrupt_[0], std::nullopt), Woke::interrupted);
}

}  // namespace
}  // namespace cgpu::client
