#include "core/admission/unmanaged.hpp"

#include <algorithm>

#include "core/admission/seat.hpp"

namespace cgpu::admission {
namespace {

using model::Refusal;
using Reason = Refusal::Reason;

constexpr std::string_view kAskForAPart = "CGPU_MEM=4GiB (a part of a GPU)";

}  // namespace

std::string_view to_string(Unmanaged unmanaged) {
    switch (unmanaged) {
        case Unmanaged::allow:
            return "allow";
        case Unmanaged::whole:
            return "whole";
        case Unmanaged::refuse:
            return "refuse";
    }
    return "unknown";
}

tl::expected<Unmanaged, std::string> parse_unmanaged(std::string_view text) {
    for (const Unmanaged unmanaged : {Unmanaged::allow, Unmanaged::whole, Unmanaged::refuse})
        if (text == to_string(unmanaged)) return unmanaged;
    return tl::unexpected(std::string("it is none of allow, whole and refuse"));
}

tl::expected<std::vector<model::Quota>, Refusal> book_whole(const model::Node& node, const std::string& what,
                                                            const std::vector<model::Uuid>& gpus) {
    std::vector<model::Quota> quotas;
    for (const model::Gpu& gpu : node.gpus()) {
        const bool named =
            gpus.empty() ? gpu.present : std::find(gpus.begin(), gpus.end(), gpu.uuid) != gpus.end();
        if (!named) continue;
        if (const auto checked = check_drained(gpu); !checked)
            return model::refuse(what + " on " + describe(gpu), checked.error());
        if (const auto there = node.occupants_of(gpu.uuid); !there.empty())
            return model::refuse(Reason::busy, what,
                                 "it asks for no part of a GPU, so it needs " + describe(gpu) +
                                     " alone (unmanaged: whole), and " + std::to_string(there.size()) +
                                     (there.size() == 1 ? " instance is there" : " instances are there"),
                                 std::string(kAskForAPart) + ", or an empty GPU in NVIDIA_VISIBLE_DEVICES");
        model::Quota quota;
        quota.gpu = gpu.uuid;
        quota.memory_limit = gpu.total;
        quota.weight = gpu.settings.max_inst;
        quota.exclusive = true;
        if (const auto checked = node.check_quota(model::Mode::none, quota); !checked)
            return model::refuse(what + " on " + describe(gpu), checked.error());
        quotas.push_back(quota);
    }
    if (quotas.empty())
        return model::refuse(Reason::not_found, what, "this node has none of the GPUs that it names",
                             "name GPUs that cgpuctl status shows");
    return quotas;
}

Refusal refuse_unmanaged(const std::string& what) {
    return model::make_refusal(
        Reason::unsupported, what,
        "it gets a GPU and asks for no part of one, which this node refuses (unmanaged: refuse)",
        std::string(kAskForAPart));
}

tl::expected<void, Refusal> check_mode(Unmanaged rule, const model::Node& node,
                                       std::optional<model::Mode> of_node, const request::Request& request,
                                       const std::vector<model::Quota>& quotas) {
    using model::Mode;
    if (rule == Unmanaged::allow || request.mode != Mode::none || of_node == Mode::none) return {};
    for (const model::Quota& quota : quotas) {
        const model::Gpu* gpu = node.find_gpu(quota.gpu);
        if (gpu == nullptr || gpu->settings.mode == Mode::none) continue;
        return model::refuse(
            Reason::unsupported, "mode none on " + describe(*gpu),
            "without a limit it would have the whole GPU, which this node refuses (unmanaged: " +
                std::string(to_string(rule)) + ")",
            "leave out the mode (CGPU_MODE=none)");
    }
    return {};
}

}  // namespace cgpu::admission
