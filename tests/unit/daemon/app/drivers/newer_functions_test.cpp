#include "daemon/app/drivers/newer_functions.hpp"

#include <gtest/gtest.h>

namespace cgpu::app::test {
namespace {

using Names = std::vector<std::string>;

struct NewerFunctionsTest : testing::Test {
    std::vector<Names> published;
    NewerFunctions functions{[this](const Names& names) { published.push_back(names); }};
};

TEST_F(NewerFunctionsTest, AreLoggedAndPublishedOncePerDriver) {
    const DriverFileId first{1, 2, 3};
    EXPECT_FALSE(functions.knows(first));
    functions.was_read(first, "/a", {"cuFoo", "cuBar"});
    EXPECT_TRUE(functions.knows(first));
    functions.was_read(first, "/a", {"cuFoo", "cuBar"});
    EXPECT_EQ(published, (std::vector<Names>{{"cuBar", "cuFoo"}}));
    // The same file, changed, is another driver; what it has is known already.
    functions.was_read({1, 2, 4}, "/a", {"cuFoo"});
    EXPECT_EQ(published.size(), 1U);
    functions.was_read({1, 5, 3}, "/b", {"cuQux"});
    EXPECT_EQ(functions.names(), (Names{"cuBar", "cuFoo", "cuQux"}));
}

TEST_F(NewerFunctionsTest, NothingIsSaidOfADriverThatIsKnown) {
    functions.was_read({1, 2, 3}, "/a", {});
    EXPECT_TRUE(functions.knows({1, 2, 3}));
    EXPECT_TRUE(published.empty());
}

TEST_F(NewerFunctionsTest, NoImageFillsTheList) {
    for (std::uint64_t driver = 0; driver < 600; ++driver)
        functions.was_read({1, driver, 0}, "/a", {"cuFoo" + std::to_string(driver)});
    EXPECT_EQ(functions.names().size(), 256U);
}

}  // namespace
}  // namespace cgpu::app::test
