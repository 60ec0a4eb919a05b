#include "client/node/wake.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::client {
namespace {

TEST(Wake, says_why_a_unit_has_failed) {
    EXPECT_EQ(why_failed({"active", "2 GPUs, 0 instances", 0}), "");
    EXPECT_EQ(why_failed({"activating", "", 78}), "") << "it is being started again";
    EXPECT_EQ(why_failed({"failed", "/etc/cgpu/cgpud.yaml:1: max_inst: it is out of range", 78}),
              "it does not start: /etc/cgpu/cgpud.yaml:1: max_inst: it is out of range");
    EXPECT_EQ(why_failed({"failed", "", 78}), "it does not start: its configuration is bad");
    EXPECT_EQ(why_failed({"failed", "", 1}), "its service has failed");
}

TEST(Wake, a_service_that_is_there_is_left_alone) {
    const test::PrivateBus bus;
    const auto daemon = sdbus::createSystemBusConnection();
    daemon->requestName(compat::ServiceName("org.cgpu1"));
    const auto client = sdbus::createSystemBusConnection();
    EXPECT_NO_THROW(wake_service(*client));
}

TEST(Wake, one_that_nobody_could_start_is_an_error_at_once) {
    const test::PrivateBus bus;
    const auto client = sdbus::createSystemBusConnection();
    try {
        wake_service(*client);
        FAIL();
    } catch (const sdbus::Error& error) {
        EXPECT_EQ(std::string(error.getName()), "org.freedesktop.DBus.Error.ServiceUnknown");
    }
}

}  // namespace
}  // namespace cgpu::client
