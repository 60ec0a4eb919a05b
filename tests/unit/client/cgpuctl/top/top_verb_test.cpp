// What cgpuctl top prints without a terminal. In a terminal tests/system/top drives it.
#include <algorithm>

#include <gtest/gtest.h>

#include "client/cgpuctl/top/top.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

class TopVerb : public VerbTest<TopInput> {};

TEST_F(TopVerb, PrintsFramesAsText) {
    input_.batch = true;
    input_.count = "2";
    input_.delay = "0.1";
    const auto done = call(top_verb);
    ASSERT_TRUE(done) << done.error().text;
    const std::string text = screen_.out.str();
    EXPECT_EQ(std::ranges::count(text, '\n'), 5 + 1 + 5) << text;
    EXPECT_NE(text.find("\n  0 web "), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find(" \n"), std::string::npos);
}

TEST_F(TopVerb, AFirstReadingThatFailsIsItsError) {
    input_.batch = true;
    node_.answer = client::fail(client::ClientError::Kind::unreachable, "cgpud: away. Try: start it.");
    const auto done = call(top_verb);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, client::ClientError::Kind::unreachable);
    EXPECT_EQ(screen_.out.str(), "");
}

TEST_F(TopVerb, WrongOptionsAreRefused) {
    input_.delay = "soon";
    const auto done = call(top_verb);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, client::ClientError::Kind::usage);
}

}  // namespace
}  // namespace cgpu::cgpuctl
