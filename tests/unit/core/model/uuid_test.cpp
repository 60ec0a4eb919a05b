#include "core/model/uuid.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace cgpu::model {
namespace {

TEST(Uuid, ReadsWhatNvidiaSmiShows) {
    const auto uuid = Uuid::parse("GPU-c09d11f5-a565-1f83-903c-a65a7ba138af");
    ASSERT_TRUE(uuid.has_value());
    EXPECT_EQ(uuid->raw()[0], 0xc0);
    EXPECT_EQ(uuid->raw()[15], 0xaf);
    EXPECT_EQ(uuid->to_string(), "GPU-c09d11f5-a565-1f83-903c-a65a7ba138af");
}

TEST(Uuid, IsTheSameInUpperCase) {
    EXPECT_EQ(Uuid::parse("GPU-C09D11F5-A565-1F83-903C-A65A7BA138AF"),
              Uuid::parse("GPU-c09d11f5-a565-1f83-903c-a65a7ba138af"));
}

TEST(Uuid, RefusesOtherForms) {
    for (const char* text :
         {"", "0", "GPU-", "GPU-c09d11f5", "c09d11f5-a565-1f83-903c-a65a7ba138af",
          "gpu-c09d11f5-a565-1f83-903c-a65a7ba138af", "GPU-c09d11f5-a565-1f83-903c-a65a7ba138ag",
          "GPU-c09d11f5-a565-1f83-903ca-65a7ba138af", "GPU-c09d11f5-a565-1f83-903c-a65a7ba138aff"})
        EXPECT_FALSE(Uuid::parse(text).has_value()) << text;
}

TEST(Uuid, SaysThatMigIsNotSharedFurther) {
    const auto mig = Uuid::parse("MIG-c09d11f5-a565-1f83-903c-a65a7ba138af");
    ASSERT_FALSE(mig.has_value());
    EXPECT_NE(mig.error().find("MIG"), std::string::npos);
}

RC_GTEST_PROP(Uuid, RoundTrips, (const Uuid::Raw& raw)) {
    const Uuid uuid(raw);
    RC_ASSERT(Uuid::parse(uuid.to_string()) == uuid);
}

RC_GTEST_PROP(Uuid, NeverCrashesOnText, (const std::string& text)) {
    const auto uuid = Uuid::parse("GPU-" + text);
    RC_ASSERT(uuid.has_value() || !uuid.error().empty());
}

}  // namespace
}  // namespace cgpu::model
