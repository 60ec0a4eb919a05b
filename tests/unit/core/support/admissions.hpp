#pragma once

#include <gtest/gtest.h>

#include "core/admission/admit.hpp"
#include "tests/unit/core/support/requests.hpp"

namespace cgpu::test {

/// The grant for these variables, or a failed test.
inline admission::Grant grant_for(const model::Node& node, const request::Variables& variables,
                                  const admission::Defaults& defaults = {}) {
    const auto grant = admission::admit(node, request_in(variables), defaults);
    EXPECT_TRUE(grant.has_value()) << grant.error().text;
    return grant.value_or(admission::Grant{});
}

inline model::Refusal refusal_for(const model::Node& node, const request::Variables& variables,
                                  const admission::Defaults& defaults = {}) {
    const auto grant = admission::admit(node, request_in(variables), defaults);
    EXPECT_FALSE(grant.has_value()) << "granted";
    if (grant) return {};
    expect_well_formed(grant.error());
    return grant.error();
}

/// Admits and adds at once.
inline admission::Grant start(model::Node& node, const std::string& name, const request::Variables& variables,
                              const admission::Defaults& defaults = {}) {
    admission::Grant grant = grant_for(node, variables, defaults);
    const auto added = node.add_instance(instance(name, grant.quotas, grant.mode));
    EXPECT_TRUE(added.has_value()) << added.error().text;
    return grant;
}

}  // namespace cgpu::test
