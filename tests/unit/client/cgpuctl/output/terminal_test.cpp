#include "client/cgpuctl/output/terminal.hpp"

#include <cstdlib>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace cgpu::cgpuctl {
namespace {

TEST(Terminal, ErrorsAndWarningsGoToErr) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal(out, err, {});
    terminal.error("a: b. Try: c.");
    terminal.warning("d");
    EXPECT_EQ(out.str(), "");
    EXPECT_EQ(err.str(), "a: b. Try: c.\nwarning: d\n");
}

TEST(Terminal, QuietKeepsErrors) {
    std::ostringstream out;
    std::ostringstream err;
    Terminal terminal(out, err, {.quiet = true});
    terminal.done("done");
    terminal.error("e: f.");
    EXPECT_EQ(out.str(), "");
    EXPECT_EQ(err.str(), "e: f.\n");
}

/// The descriptor of a terminal that is not displayed.
class PseudoTerminal : public testing::Test {
  protected:
    void SetUp() override {
        unsetenv("NO_COLOR");
        setenv("TERM", "xterm", 1);
        main_ = posix_openpt(O_RDWR | O_NOCTTY);
        if (main_ < 0 || grantpt(main_) != 0 || unlockpt(main_) != 0)
            GTEST_SKIP() << "no pseudo terminals here";
        fd_ = open(ptsname(main_), O_RDWR | O_NOCTTY);
        ASSERT_GE(fd_, 0);
    }
    void TearDown() override {
        close(fd_);
        close(main_);
    }

    int main_ = -1;
    int fd_ = -1;
};

TEST_F(PseudoTerminal, GetsColour) { EXPECT_TRUE(wants_color(fd_)); }

TEST_F(PseudoTerminal, NoColorTurnsItOff) {
    setenv("NO_COLOR", "1", 1);
    EXPECT_FALSE(wants_color(fd_));
    // no-color.org: an empty one counts as not set.
    setenv("NO_COLOR", "", 1);
    EXPECT_TRUE(wants_color(fd_));
}

TEST_F(PseudoTerminal, ADumbOneGetsNone) {
    setenv("TERM", "dumb", 1);
    EXPECT_FALSE(wants_color(fd_));
}

TEST(WantsColor, NotInAFile) {
    const int fd = open("/dev/null", O_WRONLY);
    EXPECT_FALSE(wants_color(fd));
    close(fd);
}

}  // namespace
}  // namespace cgpu::cgpuctl
