#include <gtest/gtest.h>

#include "core/request/request.hpp"
#include "core/request/reservation_variable.hpp"
#include "core/request/unknown_name.hpp"

namespace cgpu::request {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

tl::expected<std::optional<Request>, model::Refusal> with(const Variables& more) {
    Variables variables{{"CGPU_RESERVATION", kToken}};
    variables.insert(more.begin(), more.end());
    return parse_request(variables);
}

TEST(Reservation, IsAllThatIsAskedFor) {
    const auto request = with({});
    ASSERT_TRUE(request && *request);
    EXPECT_EQ((*request)->reservation, kToken);
    EXPECT_TRUE((*request)->memory.empty());
    const auto about = with({{"CGPU_TIME", "2h"}, {"CGPU_OWNER", "alice"}, {"CGPU_WAIT", "30s"}});
    ASSERT_TRUE(about && *about);
    EXPECT_EQ((*about)->time, 7200U);
    EXPECT_EQ((*about)->owner, "alice");
    EXPECT_TRUE((*about)->wait);
}

TEST(Reservation, GoesWithWhatImagesBring) {
    for (const char* devices : {"all", "void", "none", "", "/var/run/nvidia-container-devices", "0,all"})
        EXPECT_TRUE(with({{"NVIDIA_VISIBLE_DEVICES", devices}})) << devices;
    EXPECT_TRUE(with({{"ALIYUN_COM_GPU_MEM_CONTAINER", ""}}));
    for (const char* devices : {"0", "GPU-12345678", "0,1", "nonsense", "MIG-1"})
        EXPECT_FALSE(with({{"NVIDIA_VISIBLE_DEVICES", devices}})) << devices;
}

TEST(Reservation, LeavesNoOtherPartToAskFor) {
    for (const char* name :
         {"CGPU_MEM", "CGPU_COMPUTE", "CGPU_WEIGHT", "CGPU_GPUS", "CGPU_PRIO", "CGPU_MODE", "CGPU_PROFILE",
          "ALIYUN_COM_GPU_MEM_CONTAINER", "ALIYUN_COM_GPU_SCHD_WEIGHT", "ALIYUN_COM_GPU_HIGH_PRIO",
          "ALIYUN_COM_GPU_VISIBLE_DEVICES", "aliyun.com/gpu-mem", "volcano.sh/gpu-mem.128Mi"}) {
        const auto refused = with({{name, "1"}});
        ASSERT_FALSE(refused) << name;
        EXPECT_TRUE(refused.error().text.starts_with(std::string(name) + " with CGPU_RESERVATION: "))
            << refused.error().text;
    }
}

TEST(Reservation, NoRefusalHasTheToken) {
    for (const std::string& wrong :
         {kToken + "0", kToken.substr(1), std::string(32, 'A'), std::string(32, ' ') + "x"}) {
        const auto refused = parse_request({{"CGPU_RESERVATION", wrong}});
        ASSERT_FALSE(refused) << wrong;
        EXPECT_EQ(refused.error().text.find(wrong), std::string::npos);
    }
    EXPECT_EQ(with({{"CGPU_MEM", "1GiB"}}).error().text.find(kToken), std::string::npos);
    EXPECT_FALSE(parse_request({{"CGPU_RESERVATION", ""}})) << "a variable of a compose file that isn't set";
}

TEST(Reservation, AMistypedNameDoesntShowTheToken) {
    const auto unknown = find_unknown_name({{"CGPU_RESERVATON", kToken}});
    ASSERT_TRUE(unknown);
    const auto text = refuse_unknown_name(*unknown).text;
    EXPECT_EQ(text.find(kToken), std::string::npos) << text;
    EXPECT_NE(text.find("Try: CGPU_RESERVATION"), std::string::npos) << text;
}

TEST(Reservation, NothingIsManagedWithCgpuDisable) {
    const auto request = with({{"CGPU_DISABLE", "1"}});
    ASSERT_TRUE(request);
    EXPECT_FALSE(*request);
}

}  // namespace
}  // namespace cgpu::request
