#include "client/cgpuctl/verbs/looking.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

/// The second GPU is lost.
class LostGpu : public VerbTest<ShowInput> {
  protected:
    LostGpu() {
        node_.snapshot.gpus[1].present = false;
        node_.snapshot.gpus[1].obstacle = "NVML says: GPU is lost";
    }

    [[nodiscard]] bool printed(const std::string& text) const {
        return screen_.out.str().find(text) != std::string::npos;
    }
};

TEST_F(LostGpu, IsShownByTheIndexThatItHad) {
    input_.target = "1";
    ASSERT_TRUE(call(&show));
    EXPECT_TRUE(printed("1 (lost: NVML says: GPU is lost)")) << screen_.out.str();
    EXPECT_TRUE(printed(kUuid1)) << screen_.out.str();
}

TEST_F(LostGpu, LeavesItsIndexToAnotherOne) {
    node_.snapshot.gpus[0].present = false;
    node_.snapshot.gpus[1].present = true;
    node_.snapshot.gpus[1].index = 0;
    input_.target = "0";
    ASSERT_TRUE(call(&show));
    EXPECT_TRUE(printed(kUuid1)) << screen_.out.str();
}

TEST_F(LostGpu, HasItsIndexInTheStatus) {
    ASSERT_TRUE(call(&status));
    EXPECT_TRUE(printed("\n1 (lost)  Tesla V100")) << screen_.out.str();
}

}  // namespace
}  // namespace cgpu::cgpuctl
