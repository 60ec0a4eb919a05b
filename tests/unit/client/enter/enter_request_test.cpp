#include "client/enter/request.hpp"

#include <gtest/gtest.h>

namespace cgpu::enter {
namespace {

using Words = std::vector<std::string>;

TEST(EnterRequest, IsAnInstanceAndACommandWithWhateverArguments) {
    const auto request = read_arguments({"0123abc", "train", "--", "--help", ""});
    ASSERT_TRUE(request);
    EXPECT_EQ(request->instance.str(), "0123abc");
    EXPECT_EQ(request->command, (Words{"train", "--", "--help", ""}));
}

TEST(EnterRequest, RefusesWhatIsNoInstanceOrHasNoCommand) {
    for (const Words& arguments : std::vector<Words>{{},
                                                     {"0123abc"},
                                                     {"0123abc", ""},
                                                     {"", "train"},
                                                     {"..", "train"},
                                                     {"a/../../b", "train"},
                                                     {"--help", "train"},
                                                     {"a\nb", "train"}}) {
        const auto request = read_arguments(arguments);
        ASSERT_FALSE(request) << (arguments.empty() ? "" : arguments.front());
        EXPECT_EQ(request.error().kind, client::ClientError::Kind::usage);
        EXPECT_NE(request.error().text.find(". Try: "), std::string::npos) << request.error().text;
    }
}

TEST(EnterRequest, TheEnvironmentIsTakenAsItIs) {
    using namespace std::string_literals;
    EXPECT_EQ(read_environment("A=1\0LD_LIBRARY_PATH=/a:/b\0A=2\0no sign\0B=\0"s),
              (Words{"A=1", "LD_LIBRARY_PATH=/a:/b", "A=2", "no sign", "B="}));
    EXPECT_EQ(read_environment("A=1\0cut off"s), (Words{"A=1", "cut off"}));
    EXPECT_EQ(read_environment("\0\0A=1\0\0"s), (Words{"A=1"})) << "a program may have overwritten it";
    EXPECT_EQ(read_environment(""), Words{});
}

TEST(EnterRequest, AValueIsThatOfTheFirstEntryOfItsName) {
    const Words environment{"LD_LIBRARY_PATHS=/x", "LD_LIBRARY_PATH", "LD_LIBRARY_PATH=/a=b",
                            "LD_LIBRARY_PATH=/c"};
    EXPECT_EQ(value_of(environment, "LD_LIBRARY_PATH"), "/a=b");
    EXPECT_EQ(value_of(environment, "CONDA_PREFIX"), "");
}

}  // namespace
}  // namespace cgpu::enter
