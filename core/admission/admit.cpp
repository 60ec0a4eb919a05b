#include "core/admission/admit.hpp"

#include "core/admission/plan.hpp"

namespace cgpu::admission {

tl::expected<Grant, model::Refusal> admit(const model::Node& node, const request::Request& request,
                                          const Defaults& defaults) {
    if (request.memory.empty() && defaults.default_memory == model::Bytes{}) return Grant{};
    auto plan =
        request.gpus.empty() ? plan_placed(node, request, defaults) : plan_named(node, request, defaults);
    if (!plan) return tl::unexpected(plan.error());
    Grant grant;
    grant.mode = plan->mode;
    for (Seat& seat : plan->seats) {
        grant.quotas.push_back(seat.quota);
        for (std::string& warning : seat.warnings) grant.warnings.push_back(std::move(warning));
    }
    return grant;
}

}  // namespace cgpu::admission
