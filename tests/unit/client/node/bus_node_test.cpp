#include "client/node/bus_node.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "dbus/compat.hpp"
#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::client {
namespace {

TEST(BusNode, waits_for_room_on_a_bus_that_takes_no_more_of_this_user) {
    const test::PrivateBus bus("<limit name=\"max_connections_per_user\">1</limit>");
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t other = fork();
    if (other == 0) {
        const auto connection = sdbus::createSystemBusConnection();
        static_cast<void>(!write(ends[1], "+", 1));
        usleep(300'000);
        _exit(0);
    }
    char connected = 0;
    ASSERT_EQ(read(ends[0], &connected, 1), 1);
    EXPECT_THROW(static_cast<void>(sdbus::createSystemBusConnection()), sdbus::Error);
    const auto service = BusNode().service();
    EXPECT_TRUE(service) << service.error().text;
    waitpid(other, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
}  // namespace cgpu::client
