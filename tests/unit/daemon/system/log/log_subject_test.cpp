#include "daemon/system/log/log_subject.hpp"

#include <gtest/gtest.h>

namespace cgpu::system {
namespace {

TEST(LogSubject, NamesTheInstanceThatALineBeginsWith) {
    EXPECT_EQ(subject_of("instance 3f2a (web): admitted").instance, "3f2a");
    EXPECT_EQ(subject_of("instance 3f2a: gone").instance, "3f2a");
    EXPECT_EQ(subject_of("instance 3f2a").instance, "3f2a");
    EXPECT_EQ(subject_of("instance 3f2a: on GPU 1").gpu, "");
}

TEST(LogSubject, NamesTheGpuThatALineBeginsWith) {
    EXPECT_EQ(subject_of("GPU 12 (GPU-c09d11f5): policy weighted is set").gpu, "12");
    EXPECT_EQ(subject_of("GPU 12 (GPU-c09d11f5): policy weighted is set").gpu_uuid, "GPU-c09d11f5");
    EXPECT_EQ(subject_of("GPU 0: gone").gpu, "0");
    EXPECT_EQ(subject_of("GPU 0: gone").gpu_uuid, "");
    EXPECT_EQ(subject_of("GPU 0 (GPU-c09d").gpu_uuid, "GPU-c09d");
}

TEST(LogSubject, NamesTheProcessOfTheInstance) {
    EXPECT_EQ(subject_of("instance 3f2a: process 12: holds 3 bytes").process, "12");
    EXPECT_EQ(subject_of("instance 3f2a: lives with process 12").process, "");
    EXPECT_EQ(subject_of("instance 3f2a: said: process 12").process, "");
    EXPECT_EQ(subject_of("process 12: odd").process, "");
}

TEST(LogSubject, SaysNothingOfOtherLines) {
    for (const char* line : {"", "GPUs: no driver", "GPU GPU-c09d: odd", "instances: 3", "instance ", "GPU ",
                             "the instance 3f2a"}) {
        EXPECT_EQ(subject_of(line).instance, "") << line;
        EXPECT_EQ(subject_of(line).gpu, "") << line;
    }
}

}  // namespace
}  // namespace cgpu::system
