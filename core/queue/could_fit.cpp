#include "core/queue/could_fit.hpp"

#include <utility>

#include "core/admission/admit.hpp"
#include "core/admission/plan.hpp"

namespace cgpu::queue {

tl::expected<void, model::Refusal> could_fit(const model::Node& node, const Waiting& waiting,
                                             const admission::Defaults& given,
                                             const AllowanceOf& allowance_of) {
    auto gpus = node.gpus();
    for (model::Gpu& gpu : gpus) gpu.drained = false;
    const auto empty = model::Node::restore(0, std::move(gpus), {});
    if (!empty) return tl::unexpected(empty.error());
    const auto allowance = allowance_of ? allowance_of(*empty, waiting.owner)
                                        : tl::expected<std::optional<limits::Allowance>, model::Refusal>();
    if (!allowance) return tl::unexpected(allowance.error());
    admission::Defaults defaults = given;
    defaults.allowance = *allowance ? &**allowance : nullptr;
    const auto grant = admission::admit(*empty, waiting.request, defaults);
    if (!grant) return tl::unexpected(grant.error());
    if (defaults.allowance != nullptr && grant->managed())
        if (const auto allowed = defaults.allowance->check_instance(grant->quotas); !allowed)
            return model::refuse(describe(waiting.request, defaults), allowed.error());
    return {};
}

}  // namespace cgpu::queue
