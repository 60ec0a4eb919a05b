#include "client/enter/privilege.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/client/enter/as_set_uid.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::enter {
namespace {

class EnterPrivilege : public ::testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can play a set-uid program";
    }
};

bool can_read(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

TEST_F(EnterPrivilege, FilesAreLookedUpAsTheCallerAndThenAsRootAgain) {
    const client::TempRoot folder;
    folder.file("/secret", "root's");
    chmod(folder.path().c_str(), 0755);
    chmod(folder.at("/secret").c_str(), 0600);
    EXPECT_TRUE(as_set_uid_of_user([&] {
        const std::string secret = folder.at("/secret");
        if (!can_read(secret)) return false;
        {
            const AsCaller caller;
            if (!caller.works() || can_read(secret)) return false;
        }
        return can_read(secret);
    }));
}

TEST_F(EnterPrivilege, RootsRightsDoNotComeBack) {
    EXPECT_TRUE(as_set_uid_of_user([] {
        if (!check_root() || !become_caller()) return false;
        uid_t real = 0;
        uid_t effective = 0;
        uid_t saved = 0;
        getresuid(&real, &effective, &saved);
        return real == kUser && effective == kUser && saved == kUser && setuid(0) != 0 && !check_root();
    }));
}

}  // namespace
}  // namespace cgpu::enter
