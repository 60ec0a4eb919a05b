#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/support/requests.hpp"

/// Whatever the environment contains, parse_request() returns one of its three results.
namespace cgpu::request {
namespace {

using namespace cgpu::test;

void check_answer(const Variables& variables) {
    const auto parsed = parse_request(variables);
    if (!parsed) {
        RC_ASSERT(parsed.error().text.find(". Try: ") != std::string::npos);
        for (const char c : parsed.error().text) RC_ASSERT(c >= 0x20 && c < 0x7f);
        RC_ASSERT(parsed.error().text.size() < 2000U);
    } else if (*parsed) {
        const Request& request = **parsed;
        RC_ASSERT(request.count >= 1U && request.count <= model::kMaxGpusPerInstance);
        RC_ASSERT(request.memory.size() <= request.count);
        RC_ASSERT(request.gpus.empty() || request.gpus.size() == request.count);
        RC_ASSERT(request.weight.value_or(1) >= 1U && request.weight.value_or(1) <= 25U);
        RC_ASSERT(request.percent.value_or(1) >= 1U && request.percent.value_or(1) <= 100U);
    }
}

RC_GTEST_PROP(RequestGarbage, AnyTextIsAnswered, ()) {
    Variables variables;
    for (const std::string& name : kManagedVariables)
        if (*rc::gen::inRange(0, 3) == 0) variables[name] = *rc::gen::arbitrary<std::string>();
    check_answer(variables);
}

RC_GTEST_PROP(RequestGarbage, AnythingThatLooksLikeAValueIsAnswered, ()) {
    const auto values = rc::gen::element<std::string>(
        "", "0", "1", "4", "8", "20", "25", "100", "1,0", "3,1", "3,4,5,6",
        "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "4GiB", "4096MiB", "1B", "25%", "all", "none", "true",
        "false", "memory", "memory+compute", "high", "-1", "18446744073709551615",
        "GPU-c09d11f5-a565-1f83-903c-a65a7ba138af", ",", " ");
    Variables variables;
    for (const std::string& name : kManagedVariables)
        if (*rc::gen::inRange(0, 3) == 0 || name == "CGPU_MEM") variables[name] = *values;
    check_answer(variables);
}

TEST(RequestGarbage, IsQuotedAndCut) {
    const auto text = refusal_in({{"ALIYUN_COM_GPU_MEM_CONTAINER", "\x1b[31m\n" + std::string(10000, 'x')}},
                                 "ALIYUN_COM_GPU_MEM_CONTAINER=\"\\x1b[31m\\nxxx");
    EXPECT_LT(text.size(), 400U);
}

TEST(RequestGarbage, a_value_that_is_too_long_is_refused_before_it_is_read) {
    std::string list = "0";
    for (int i = 1; i < 100'000; ++i) list += "," + std::to_string(i);
    for (const auto& name : kManagedVariables) {
        Variables variables{{"CGPU_MEM", "1GiB"}};
        variables[name] = list;
        const auto parsed = parse_request(variables);
        ASSERT_FALSE(parsed) << name;
        EXPECT_NE(parsed.error().text.find(name), std::string::npos);
        EXPECT_NE(parsed.error().text.find("longer than 4096 characters. Try: "), std::string::npos)
            << parsed.error().text;
    }
}

}  // namespace
}  // namespace cgpu::request
