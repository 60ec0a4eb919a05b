#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

namespace cgpu::test {

/// While this object lives, a test that runs as root is subject to file permissions.
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
