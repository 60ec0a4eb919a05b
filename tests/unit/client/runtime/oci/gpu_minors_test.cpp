#include "client/runtime/oci/gpu_minors.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::runtime {
namespace {

using cgpuctl::kUuid0;
using cgpuctl::kUuid1;

std::string information(const std::string& uuid, const std::string& minor) {
    return "Model: \t\t NVIDIA H100\nGPU UUID: \t " + uuid +
           "\nBus Location: \t 0000:01:00.0\nDevice Minor: \t " + minor + "\nGPU Excluded:\t No\n";
}

TEST(GpuMinors, TheDriverSaysThem) {
    const client::TempRoot root;
    root.file("/gpus/0000:01:00.0/information", information(kUuid0, "1"));
    root.file("/gpus/0000:02:00.0/information", information(kUuid1, "0"));
    EXPECT_EQ(read_gpu_minors(cgpuctl::two_gpus().gpus, root.at("/gpus")),
              (GpuMinors{{1, kUuid0}, {0, kUuid1}}));
}

TEST(GpuMinors, AGpuThatTheDriverOrTheNodeDoesNotKnowHasNone) {
    const client::TempRoot root;
    root.file("/gpus/0000:01:00.0/information", information("unknown", "1"));
    root.file("/gpus/0000:02:00.0/information", information(kUuid1, "x"));
    root.folder("/gpus/0000:03:00.0");
    EXPECT_TRUE(read_gpu_minors(cgpuctl::two_gpus().gpus, root.at("/gpus")).empty());
}

TEST(GpuMinors, WithoutTheDriversFolderTheyAreTheIndices) {
    auto gpus = cgpuctl::two_gpus().gpus;
    EXPECT_EQ(read_gpu_minors(gpus, "/missing"), (GpuMinors{{0, kUuid0}, {1, kUuid1}}));
    gpus[0].present = false;
    EXPECT_EQ(read_gpu_minors(gpus, "/missing"), (GpuMinors{{1, kUuid1}}));
}

}  // namespace
}  // namespace cgpu::runtime
