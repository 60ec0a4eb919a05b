#include "core/queue/owners.hpp"

#include <string>
#include <utility>

namespace cgpu::queue {
namespace {

/// A name for a GPU that the node doesn't have: the `n`-th of a request.
model::Uuid unknown_gpu(std::uint64_t request, std::size_t n) {
    model::Uuid::Raw raw{};
    for (std::size_t byte = 0; byte < 8; ++byte)
        raw.at(byte) = static_cast<std::uint8_t>(request >> byte * 8);
    raw[8] = static_cast<std::uint8_t>(n);
    return model::Uuid(raw);
}

}  // namespace

tl::expected<Owners::One*, model::Refusal> Owners::of(const model::Owner& owner) {
    if (const auto found = known_.find(owner); found != known_.end()) return found->second;
    const auto keep = [&](tl::expected<One*, model::Refusal> its) {
        return known_.emplace(owner, std::move(its)).first->second;
    };
    if (!allowance_of_) return keep(nullptr);
    auto allowance = allowance_of_(node_, owner);
    if (!allowance) return keep(tl::unexpected(std::move(allowance.error())));
    if (!*allowance || (*allowance)->rules().empty()) return keep(nullptr);
    for (One& one : all_)
        if (one.allowance.holder() == (*allowance)->holder()) return keep(&one);
    all_.push_back({std::move(**allowance)});
    return keep(&all_.back());
}

void Owners::started(One* owner, const Waiting& waiting, const std::vector<model::Quota>& quotas) {
    if (owner == nullptr) return;
    const std::string& name = waiting.request.container_name;
    owner->allowance.add(name.empty() ? "request-" + std::to_string(waiting.ticket) : name, quotas);
    ++owner->changes;
}

void Owners::keep_back(One* owner, std::vector<model::Quota> quotas, bool there) {
    if (owner == nullptr) return;
    ++owner->changes;
    if (!there)
        for (std::size_t n = 0; n < quotas.size(); ++n) quotas[n].gpu = unknown_gpu(owner->changes, n);
    owner->allowance.keep_back(quotas);
}

}  // namespace cgpu::queue
