#include "client/node/remote_host.hpp"

#include <gtest/gtest.h>

namespace cgpu::client {
namespace {

TEST(RemoteHost, IsNamedAsForSsh) {
    for (const char* host :
         {"gpu1", "root@gpu1", "root@gpu1.example.org", "gpu1:2222", "me@10.0.0.1", "me@[::1]:22"})
        EXPECT_TRUE(check_host(host)) << host;
}

TEST(RemoteHost, WhatIsNoneIsWrongUsage) {
    for (const char* host :
         {"", "-v", "@gpu1", "root@", "root@-v", "a b", "a;b", "a\nb", "gpu1/container", "$(x)", "ö"}) {
        const auto checked = check_host(host);
        ASSERT_FALSE(checked) << host;
        EXPECT_EQ(checked.error().kind, ClientError::Kind::usage);
        EXPECT_NE(checked.error().text.find("Try: --host user@machine"), std::string::npos);
    }
}

}  // namespace
}  // namespace cgpu::client
