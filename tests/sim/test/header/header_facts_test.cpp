// Compares our header with the one of an installed CUDA toolkit.
#include "tests/sim/test/header/header_facts.hpp"

#include <gtest/gtest.h>

namespace simgpu::test {
namespace {

TEST(HeaderFacts, AgreeWithTheToolkit) {
#ifdef SIMGPU_HAVE_TOOLKIT
    const auto ours = facts_of_our_header();
    const auto theirs = facts_of_nvidias_header();
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i].value, theirs[i].value) << ours[i].what;
#else
    GTEST_SKIP() << "no CUDA toolkit is installed here";
#endif
}

}  // namespace
}  // namespace simgpu::test
