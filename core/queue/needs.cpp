#include "core/queue/needs.hpp"

#include <algorithm>
#include <utility>

#include "core/admission/admit.hpp"
#include "core/admission/seat.hpp"
#include "core/limits/allowance.hpp"

namespace cgpu::queue {
namespace {

using admission::Defaults;
using model::Mode;
using model::Node;
using request::Request;

/// Of these, all later ones are like the last one.
std::size_t different_positions(const Request& request) {
    const std::size_t kept = request.kept.empty() ? 0 : request.kept.rbegin()->first + std::size_t{2};
    return std::min<std::size_t>(request.count, std::max({std::size_t{1}, request.memory.size(), kept}));
}

/// The least of two in each figure.
model::Quota least(const model::Quota& one, const model::Quota& other) {
    model::Quota both = one;
    both.memory_limit = std::min(one.memory_limit, other.memory_limit);
    both.weight = std::min(one.weight, other.weight);
    both.exclusive = one.exclusive && other.exclusive;
    both.high_priority = one.high_priority && other.high_priority;
    return both;
}

/// The least of what it could take of this GPU, in any mode in which admission would put it there.
std::optional<model::Quota> quota_on(const Node& cleared, const model::Gpu& gpu, const Request& request,
                                     std::optional<Mode> asked, const Defaults& defaults) {
    std::optional<model::Quota> found;
    for (const Mode mode : {Mode::memory_compute, Mode::memory, Mode::none}) {
        if (asked && *asked != mode) continue;
        for (std::size_t position = 0; position < different_positions(request); ++position)
            if (const auto seat = admission::find_seat(cleared, gpu, request, position, mode, defaults))
                found = found ? least(*found, seat->quota) : seat->quota;
        if (found) break;  // in another mode it takes the same
    }
    return found;
}

/// Whether every request takes the same of both.
bool are_alike(const model::Gpu& one, const model::Gpu& other) {
    return one.total == other.total && one.settings == other.settings && one.obstacle == other.obstacle &&
           one.present == other.present && one.drained == other.drained;
}

/// The quotas that placement may choose from, by the place of the GPU.
std::vector<std::optional<model::Quota>> quotas_of(const Node& cleared, const Request& request,
                                                   std::optional<Mode> asked, const Defaults& defaults) {
    const auto& gpus = cleared.gpus();
    std::vector<std::optional<model::Quota>> quotas(gpus.size());
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
        std::size_t alike = 0;
        while (alike < gpu && !are_alike(gpus[alike], gpus[gpu])) ++alike;
        quotas[gpu] = alike < gpu ? quotas[alike] : quota_on(cleared, gpus[gpu], request, asked, defaults);
        if (quotas[gpu]) quotas[gpu]->gpu = gpus[gpu].uuid;
    }
    return quotas;
}

bool is_placed(const Request& request) { return request.gpus.empty() && !request.every_gpu; }

/// Whether the limits may allow on one GPU what they don't on another.
bool depend_on_gpu(const limits::InForce& rules) {
    return rules.memory_per_gpu || rules.compute || rules.gpus;
}

/// What it would get alone, and what the limits object to that.
void find_alone(Needs& needs, const Node& cleared, const Request& request, Defaults& defaults,
                const limits::Allowance* allowance) {
    auto grant = admission::admit(cleared, request, defaults);
    if (!grant) return;
    needs.managed = grant->managed();
    needs.alone = std::move(grant->quotas);
    if (allowance == nullptr || !needs.managed) return;
    auto checked = allowance->check_instance(needs.alone);
    if (checked) return;
    needs.limit = std::move(checked.error());
    if (!is_placed(request) || !depend_on_gpu(allowance->rules())) return;
    defaults.allowance = allowance;
    auto elsewhere = admission::admit(cleared, request, defaults);
    defaults.allowance = nullptr;
    if (!elsewhere || !allowance->check_instance(elsewhere->quotas)) return;
    needs.alone = std::move(elsewhere->quotas);
    needs.limit.reset();
}

}  // namespace

Node cleared(const Node& node) { return Node::restore(0, node.gpus(), {}).value_or(Node()); }

Needs needs_of(const Node& cleared, const Waiting& waiting, Defaults defaults,
               const limits::Allowance* allowance) {
    const Request& request = waiting.request;
    Needs needs;
    needs.mode = request.mode ? request.mode : defaults.mode;
    needs.on.resize(cleared.gpus().size());
    defaults.allowance = nullptr;
    find_alone(needs, cleared, request, defaults, allowance);
    if (!needs.managed) return needs;

    std::vector<std::optional<model::Quota>> quotas(needs.on.size());
    if (is_placed(request)) {
        needs.count = request.count;
        quotas = quotas_of(cleared, request, needs.mode, defaults);
    } else {
        // It has no choice: it takes what it would take alone.
        needs.count = needs.alone.size();
        for (std::size_t gpu = 0; gpu < quotas.size(); ++gpu)
            for (const model::Quota& quota : needs.alone)
                if (quota.gpu == cleared.gpus()[gpu].uuid) quotas[gpu] = quota;
    }
    const bool by_gpu = allowance != nullptr && depend_on_gpu(allowance->rules());
    for (std::size_t gpu = 0; gpu < quotas.size(); ++gpu)
        if (quotas[gpu] && (!by_gpu || allowance->check(*quotas[gpu])))
            needs.on[gpu] = Need{quotas[gpu]->memory_limit, quotas[gpu]->exclusive};
    return needs;
}

}  // namespace cgpu::queue
