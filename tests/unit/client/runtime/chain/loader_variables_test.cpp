#include "client/runtime/chain/loader_variables.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace cgpu::runtime {
namespace {

int loader_variables() {
    int count = 0;
    for (char** entry = environ; *entry != nullptr; ++entry)
        if (std::string(*entry).starts_with("LD_")) ++count;
    return count;
}

TEST(LoaderVariables, AreAsBeforeOnceTheyArePutBack) {
    setenv("LD_LIBRARY_PATH", "/opt/containerd/lib:", 1);
    setenv("LD_PRELOAD", "", 1);
    setenv("LDAP", "stays", 1);
    set_loader_variables_aside();
    EXPECT_EQ(loader_variables(), 0);
    EXPECT_STREQ(getenv("LDAP"), "stays");
    put_loader_variables_back();
    EXPECT_STREQ(getenv("LD_LIBRARY_PATH"), "/opt/containerd/lib:");
    EXPECT_STREQ(getenv("LD_PRELOAD"), "");
    for (char** entry = environ; *entry != nullptr; ++entry)
        EXPECT_FALSE(std::string(*entry).starts_with("CGPU_RUNTIME_ASIDE")) << *entry;
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("LD_PRELOAD");
    unsetenv("LDAP");
    put_loader_variables_back();
    EXPECT_EQ(getenv("LD_PRELOAD"), nullptr) << "nothing is set aside any more";
}

}  // namespace
}  // namespace cgpu::runtime
