#include "core/admission/admit.hpp"

#include <map>

#include "core/admission/kept_for_request.hpp"
#include "core/admission/plan.hpp"
#include "core/limits/allowance.hpp"
#include "core/model/quote.hpp"

namespace cgpu::admission {
namespace {

using model::Refusal;
using request::Request;

/// Whether it requests the node's default memory and there is none, for at least one device.
bool has_no_memory(const Request& request, const Defaults& defaults) {
    if (!request.memory.empty() || defaults.default_memory != model::Bytes{}) return false;
    for (std::size_t device = 0; device < request.count; ++device)
        if (!request.kept_at(device).memory_limit) return true;
    return false;
}

std::string forget_it(const Request& request) {
    const std::string& name = request.container_name;
    return "cgpuctl forget " + (model::is_plain_word(name) ? model::quote(name) : model::shell_word(name));
}

/// The refusal, with a remedy if settings were kept and may be what doesn't fit.
Refusal naming_what_is_kept(Refusal refusal, const Request& request) {
    const bool may_be_the_figures = refusal.reason == Refusal::Reason::no_memory ||
                                    refusal.reason == Refusal::Reason::no_space ||
                                    refusal.reason == Refusal::Reason::invalid;
    if (may_be_the_figures && !kept_for_request(request).empty())
        also_try(refusal, forget_it(request) + ", which drops what --persist has kept");
    return refusal;
}

std::string say_what_is_kept(const Request& request) {
    return "what --persist has kept for " + model::quote(request.container_name) +
           " goes before what it asks for: " + model::describe(kept_for_request(request)) +
           ". Try: " + forget_it(request) + ", for the next start to get what it asks for.";
}

/// A request for every GPU, as one that names them all.
tl::expected<Request, Refusal> naming_every_gpu(const model::Node& node, Request request) {
    std::map<std::uint32_t, model::Uuid> present;
    for (const model::Gpu& gpu : node.gpus())
        if (gpu.present) present.emplace(gpu.index, gpu.uuid);
    const std::size_t count = present.size();
    const std::string what = "all GPUs";
    using Reason = Refusal::Reason;
    if (count == 0)
        return model::refuse(Reason::no_space, what, "this node has none that its driver shows",
                             "cgpuctl status, which says more");
    if (count > model::kMaxGpusPerInstance)
        return model::refuse(Reason::invalid, what,
                             "the node has " + std::to_string(count) + ", and one instance can have " +
                                 std::to_string(model::kMaxGpusPerInstance),
                             "name those that it is to have");
    if (request.memory.size() > count)
        return model::refuse(Reason::invalid, "memory for " + std::to_string(request.memory.size()) + " GPUs",
                             "the node has " + std::to_string(count),
                             "give one number for all GPUs, or one for each GPU");
    for (const auto& [index, uuid] : present) request.gpus.emplace_back(uuid);
    request.count = static_cast<std::uint32_t>(count);
    request.every_gpu = false;
    return request;
}

}  // namespace

tl::expected<Grant, model::Refusal> admit(const model::Node& node, const request::Request& request,
                                          const Defaults& defaults) {
    if (request.every_gpu) {
        const auto named = naming_every_gpu(node, request);
        return named ? admit(node, *named, defaults) : tl::unexpected(named.error());
    }
    if (has_no_memory(request, defaults)) return Grant{};
    if (defaults.allowance != nullptr)
        if (auto allowed = defaults.allowance->check_number(); !allowed)
            return model::refuse(describe(request, defaults), allowed.error());
    auto plan =
        request.gpus.empty() ? plan_placed(node, request, defaults) : plan_named(node, request, defaults);
    if (!plan) return tl::unexpected(naming_what_is_kept(std::move(plan.error()), request));
    Grant grant;
    grant.mode = plan->mode;
    if (!kept_for_request(request).empty()) grant.warnings.push_back(say_what_is_kept(request));
    for (Seat& seat : plan->seats) {
        grant.quotas.push_back(seat.quota);
        for (std::string& warning : seat.warnings) grant.warnings.push_back(std::move(warning));
    }
    return grant;
}

}  // namespace cgpu::admission
