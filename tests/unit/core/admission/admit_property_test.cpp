#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/core/support/admissions.hpp"

/// Every grant can be added to the node, and a refusal changes nothing.
namespace cgpu::admission {
namespace {

using namespace cgpu::test;
using request::Request;

Request random_request() {
    Request request;
    request.count = *rc::gen::inRange(1U, 4U);
    const auto listed = *rc::gen::inRange(0U, request.count + 1);
    const bool share = *rc::gen::arbitrary<bool>();
    for (auto n = listed; n > 0; --n) {
        if (share)
            request.memory.emplace_back(request::CardShare{*rc::gen::inRange<std::uint64_t>(0, 18), 15});
        else
            request.memory.emplace_back(model::Bytes::from_mib(*rc::gen::inRange<std::uint64_t>(0, 17000)));
    }
    if (*rc::gen::arbitrary<bool>())
        for (auto n = request.count; n > 0; --n) request.gpus.emplace_back(*rc::gen::inRange(0U, 5U));
    if (*rc::gen::arbitrary<bool>()) request.weight = *rc::gen::inRange(1U, 26U);
    if (*rc::gen::inRange(0, 4) == 0) request.percent = *rc::gen::inRange(1U, 21U) * 5;
    if (*rc::gen::inRange(0, 4) == 0) request.mode = static_cast<model::Mode>(*rc::gen::inRange(0U, 3U));
    for (auto n = *rc::gen::inRange(0, 3); n > 0; --n) {
        model::KeptFigures& figures = request.kept[*rc::gen::inRange(0U, 4U)];
        if (*rc::gen::arbitrary<bool>())
            figures.memory_limit = model::Bytes::from_mib(*rc::gen::inRange<std::uint64_t>(1, 17000));
        if (*rc::gen::arbitrary<bool>()) figures.weight = *rc::gen::inRange(1U, 26U);
        if (*rc::gen::arbitrary<bool>()) figures.high_priority = *rc::gen::arbitrary<bool>();
    }
    return request;
}

RC_GTEST_PROP(AdmitProperty, GrantsFitAndSumsHold, ()) {
    model::Node node = test::node({gpu(0, 16130), gpu(1, 15109), gpu(2, 16130), gpu(3, 22731)});
    Defaults defaults;
    defaults.default_memory = model::Bytes::from_gib(*rc::gen::inRange<std::uint64_t>(0, 4));
    defaults.placement = *rc::gen::element(Placement::binpack, Placement::spread);
    defaults.no_weight = *rc::gen::element(NoWeight::warn, NoWeight::refuse);
    for (int n = 0; n < 40; ++n) {
        const Request request = random_request();
        const auto grant = admit(node, request, defaults);
        if (!grant) {
            RC_ASSERT(grant.error().text.find(". Try: ") != std::string::npos);
            continue;
        }
        if (!grant->managed()) {
            RC_ASSERT(request.memory.empty() && defaults.default_memory == model::Bytes());
            continue;
        }
        RC_ASSERT(grant->quotas.size() == request.count);
        for (const auto& [device, figures] : request.kept) {
            if (device >= request.count) continue;
            const model::Quota& quota = grant->quotas[device];
            RC_ASSERT(quota.memory_limit == figures.memory_limit.value_or(quota.memory_limit));
            RC_ASSERT(quota.weight <= figures.weight.value_or(quota.weight));
            RC_ASSERT(quota.high_priority == figures.high_priority.value_or(quota.high_priority));
        }
        const auto added = node.add_instance(instance("i" + std::to_string(n), grant->quotas, grant->mode));
        RC_ASSERT(added.has_value());
        for (const model::Gpu& gpu : node.gpus()) {
            RC_ASSERT(node.allocated(gpu.uuid) <= gpu.total);
            RC_ASSERT(node.used_weight(gpu.uuid) <= gpu.settings.max_inst);
        }
    }
}

}  // namespace
}  // namespace cgpu::admission
