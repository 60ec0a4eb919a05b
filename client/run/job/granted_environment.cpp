#include "client/run/job/granted_environment.hpp"

#include <algorithm>
#include <optional>

#include "core/model/bytes.hpp"
#include "core/request/variables.hpp"

namespace cgpu::client {
namespace {

namespace names = request::names;

constexpr std::uint64_t kMibPerGib = 1024;

/// MiB of the cards of all quotas, or null if they differ.
std::optional<std::uint64_t> common_card(const std::vector<Quota>& quotas, const std::vector<Gpu>& gpus) {
    std::optional<std::uint64_t> common;
    for (const Quota& quota : quotas) {
        const auto gpu =
            std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& each) { return each.uuid == quota.gpu; });
        if (gpu == gpus.end()) return std::nullopt;
        const std::uint64_t mib = model::Bytes(gpu->memory_total).mib();
        if (common && *common != mib) return std::nullopt;
        common = mib;
    }
    return common;
}

/// The largest n with floor(card × n / dev) ≤ limit: n ≤ ((limit + 1) × dev − 1) / card.
std::uint64_t parts(std::uint64_t limit_mib, std::uint64_t card_mib, std::uint64_t dev) {
    return std::min(dev, ((limit_mib + 1) * dev - 1) / card_mib);
}

}  // namespace

Variables granted_environment(const std::vector<Quota>& quotas, const std::vector<Gpu>& gpus) {
    std::string uuids;
    for (const Quota& quota : quotas) uuids += (uuids.empty() ? "" : ",") + quota.gpu;
    Variables variables = {{"CUDA_VISIBLE_DEVICES", uuids}, {std::string(names::kNvidiaDevices), uuids}};

    const auto card = common_card(quotas, gpus);
    if (!card || *card < kMibPerGib) return variables;
    const std::uint64_t dev = *card / kMibPerGib;
    std::vector<std::uint64_t> per_gpu;
    per_gpu.reserve(quotas.size());
    for (const Quota& quota : quotas)
        per_gpu.push_back(parts(model::Bytes(quota.memory_limit).mib(), *card, dev));
    if (std::find(per_gpu.begin(), per_gpu.end(), 0U) != per_gpu.end()) return variables;
    // One number stands for all GPUs.
    if (std::equal(per_gpu.begin() + 1, per_gpu.end(), per_gpu.begin())) per_gpu.resize(1);
    std::string list;
    for (const std::uint64_t gib : per_gpu) list += (list.empty() ? "" : ",") + std::to_string(gib);
    variables.emplace(names::kMemContainer, list);
    variables.emplace(names::kMemDev, std::to_string(dev));
    return variables;
}

}  // namespace cgpu::client
