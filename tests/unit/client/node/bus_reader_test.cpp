#include "client/node/bus_reader.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::client {
namespace {

TEST(BusReader, without_cgpud_it_is_unreachable_again_and_again) {
    const test::PrivateBus bus;
    BusReader reader;
    for (int i = 0; i < 2; ++i) {
        const auto read = reader.read();
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().kind, ClientError::Kind::unreachable) << read.error().text;
    }
}

TEST(BusReader, without_a_bus_it_is_unreachable_until_there_is_one) {
    BusReader reader;
    setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
    const auto none = reader.read();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ClientError::Kind::unreachable) << none.error().text;
    const test::PrivateBus bus;
    const auto read = reader.read();
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().text, none.error().text);
}

TEST(BusReader, finds_a_bus_that_was_restarted) {
    BusReader reader;
    {
        const test::PrivateBus bus;
        ASSERT_FALSE(reader.read());
    }
    const test::PrivateBus bus;
    static_cast<void>(reader.read());  // it may still notice the end of the former bus
    const auto read = reader.read();
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().text, BusReader().read().error().text);
}

}  // namespace
}  // namespace cgpu::client
