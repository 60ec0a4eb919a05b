#include "client/exporter/address.hpp"

#include <gtest/gtest.h>

namespace cgpu::exporter {
namespace {

TEST(Address, IsAnAddressWithAPort) {
    for (const char* good : {"127.0.0.1:9835", "0.0.0.0:1", "[::1]:9835", "[::]:65535", "127.0.0.1:0"})
        EXPECT_TRUE(check_address(good)) << good;
}

TEST(Address, AnythingElseIsRefused) {
    for (const char* bad :
         {"", ":", "9835", ":9835", "127.0.0.1", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:65536",
          "127.0.0.1:-1", "localhost:9835", "::1:9835", "[127.0.0.1]:1", "127.0.0.1:1,2", "127.0.0.1:80s"}) {
        const auto checked = check_address(bad);
        ASSERT_FALSE(checked) << bad;
        EXPECT_EQ(checked.error().kind, client::ClientError::Kind::usage);
        EXPECT_NE(checked.error().text.find(". Try: use 127.0.0.1:9835"), std::string::npos);
    }
}

}  // namespace
}  // namespace cgpu::exporter
