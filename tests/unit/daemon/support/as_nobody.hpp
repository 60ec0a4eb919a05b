#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

namespace cgpu::test {

/// Lets a test that runs as root meet the permissions of a file, for as long as it lives.
class AsNobody {
  public:
    AsNobody() {
        if (was_root_) {
            EXPECT_EQ(seteuid(65534), 0);
        }
    }
    ~AsNobody() {
        if (was_root_) {
            EXPECT_EQ(seteuid(0), 0);
        }
    }
    AsNobody(const AsNobody&) = delete;
    AsNobody& operator=(const AsNobody&) = delete;

  private:
    const bool was_root_ = geteuid() == 0;
};

}  // namespace cgpu::test
