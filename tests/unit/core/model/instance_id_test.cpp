#include "core/model/instance_id.hpp"

#include <gtest/gtest.h>

namespace cgpu::model {
namespace {

TEST(InstanceId, TakesWhatDockerAndContainerdUse) {
    const std::string docker(64, 'f');
    EXPECT_EQ(InstanceId::parse(docker)->str(), docker);
    EXPECT_EQ(InstanceId::parse(docker)->short_id(), "ffffffffffff");
    EXPECT_EQ(InstanceId::parse("job_1.a-B")->short_id(), "job_1.a-B");
    EXPECT_TRUE(InstanceId::parse(std::string(128, 'a')).has_value());
}

TEST(InstanceId, RefusesWhatIsNoSafeFileName) {
    for (const std::string& text :
         {std::string(), std::string("."), std::string(".."), std::string("-a"), std::string("_a"),
          std::string("a/b"), std::string("a b"), std::string("a\nb"), std::string("a\0b", 3),
          std::string("\xc3\xa4"), std::string(129, 'a')}) {
        const auto id = InstanceId::parse(text);
        ASSERT_FALSE(id.has_value()) << text;
        EXPECT_EQ(id.error().find('\n'), std::string::npos);
    }
}

}  // namespace
}  // namespace cgpu::model
