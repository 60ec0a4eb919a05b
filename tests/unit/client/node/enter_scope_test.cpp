#include "client/node/enter_scope.hpp"

#include <gtest/gtest.h>

#include "tests/unit/daemon/support/private_bus.hpp"

namespace cgpu::client {
namespace {

TEST(EnterScope, is_an_error_where_no_systemd_answers) {
    const test::PrivateBus bus;
    const auto connection = sdbus::createSystemBusConnection();
    EXPECT_THROW(enter_scope(*connection, {"cgpu-job-0.scope", "user-1.slice", "cgpu job x"}), sdbus::Error);
}

}  // namespace
}  // namespace cgpu::client
