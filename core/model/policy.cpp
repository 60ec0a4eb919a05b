#include "core/model/policy.hpp"

#include <array>

#include "core/model/similar.hpp"

namespace cgpu::model {

namespace {
constexpr std::array kPolicies = {Policy::fair_share, Policy::preemptive, Policy::weighted,    Policy::fixed,
                                  Policy::soft,       Policy::native,     Policy::proportional};
}  // namespace

std::span<const Policy> policies() { return kPolicies; }

std::string_view to_string(Policy policy) {
    switch (policy) {
        case Policy::fair_share:
            return "fair-share";
        case Policy::preemptive:
            return "preemptive";
        case Policy::weighted:
            return "weighted";
        case Policy::fixed:
            return "fixed";
        case Policy::soft:
            return "soft";
        case Policy::native:
            return "native";
        case Policy::proportional:
            return "proportional";
    }
    return "unknown";
}

tl::expected<Policy, std::string> parse_policy(std::string_view text) {
    const std::string written = lowered(text);
    for (const Policy policy : kPolicies) {
        const auto number = std::to_string(static_cast<std::uint32_t>(policy));
        if (written == to_string(policy) || written == number) return policy;
    }
    return tl::make_unexpected(
        std::string("it is not one of 0 fair-share, 1 preemptive, 2 weighted, 3 fixed, 4 soft, 5 native, 6 "
                    "proportional"));
}

std::string_view likely_policy(std::string_view text) {
    std::vector<std::string_view> names;
    names.reserve(kPolicies.size());
    for (const Policy policy : kPolicies) names.push_back(to_string(policy));
    return most_similar(text, names);
}

bool weight_counts(Policy policy) {
    switch (policy) {
        case Policy::weighted:
        case Policy::fixed:
        case Policy::proportional:
            return true;
        case Policy::fair_share:
        case Policy::preemptive:
        case Policy::soft:
        case Policy::native:
            return false;
    }
    return false;
}

}  // namespace cgpu::model
