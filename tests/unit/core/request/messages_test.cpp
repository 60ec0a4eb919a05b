#include <gtest/gtest.h>

#include "core/request/unknown_name.hpp"
#include "tests/unit/core/support/admissions.hpp"

/// Each refusal of a request says each thing once: the variables one by one and in pairs, with values that
/// are refused for all reasons there are, and then what a node refuses.
namespace cgpu::request {
namespace {

using namespace cgpu::test;

const std::vector<std::string> kOddValues = {"",
                                             "0",
                                             "1",
                                             "3",
                                             "7",
                                             "33",
                                             "99",
                                             "100000",
                                             "99999999999999999999",
                                             "-1",
                                             "1.5",
                                             "x",
                                             "1,x",
                                             "1,1",
                                             "0,1",
                                             "1,2,3",
                                             "4GiB",
                                             "4 MB",
                                             "1B",
                                             "0%",
                                             "33%",
                                             "25%",
                                             "101%",
                                             "all",
                                             "none",
                                             "true",
                                             "maybe",
                                             "memory",
                                             "compute",
                                             "high",
                                             "memory+compute",
                                             "GPU-1",
                                             ","};

/// The refusal of the request, or of the node that is asked for it; empty: granted.
std::string refusal_of(const Variables& variables) {
    const auto parsed = parse_request(variables);
    if (!parsed) return parsed.error().text;
    if (!*parsed) return {};
    static const model::Node two = node({gpu(0, 16130), gpu(1, 900)});
    const auto grant = admission::admit(two, **parsed, {});
    return grant ? std::string() : grant.error().text;
}

TEST(RequestMessages, SayEachThingOnce) {
    std::size_t refusals = 0;
    const auto check = [&](const Variables& variables) {
        const auto text = refusal_of(variables);
        if (text.empty()) return;
        ++refusals;
        expect_said_once(text);
    };
    for (const auto& name : kManagedVariables)
        for (const auto& value : kOddValues) check({{name, value}});
    for (const auto& name : kManagedVariables)
        for (const auto& other : kManagedVariables)
            for (const auto& value : kOddValues)
                for (const char* second : {"1", "4GiB", "x", "0,1", "25%", "memory"})
                    if (name != other && !HasFailure()) check({{name, value}, {other, second}});
    EXPECT_GT(refusals, 1000U);
}

TEST(RequestMessages, UnknownNamesToo) {
    for (const char* name : {"CGPU_MEMORY", "CGPU_", "ALIYUN_COM_GPU_MEM", "CGPU_\x1b"})
        for (const char* value : {"", "4 GB", "1"}) {
            const Variables variables{{name, value}};
            const auto unknown = find_unknown_name(variables);
            ASSERT_TRUE(unknown);
            expect_said_once(refuse_unknown_name(*unknown).text);
        }
}

// The helper itself: it would be no use if it found nothing.
TEST(SaidOnce, FindsWhatIsSaidTwice) {
    EXPECT_EQ(said_twice("policy \"x\": policy: 'x' is not known. Try: fixed."), "policy");
    EXPECT_EQ(said_twice("a: it is too large. Try: b. it is too large."), "it is too large");
    EXPECT_EQ(said_twice("a: no room (no room at all)"), "");
    EXPECT_EQ(said_twice("CGPU_MEM=\"1: 1\": it is odd. Try: CGPU_MEM=1GiB."), "");
}

}  // namespace
}  // namespace cgpu::request
