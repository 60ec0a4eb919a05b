#include "client/run/job/granted_environment.hpp"

#include <algorithm>

#include "core/model/bytes.hpp"
#include "core/request/variables.hpp"

namespace cgpu::client {
namespace {

namespace names = request::names;

constexpr std::uint64_t kMibPerGib = 1024;

/// MiB of the card of each quota; 0 for one that isn't among `gpus`.
std::vector<std::uint64_t> cards_of(const std::vector<Quota>& quotas, const std::vector<Gpu>& gpus) {
    std::vector<std::uint64_t> cards;
    for (const Quota& quota : quotas) {
        const auto gpu =
            std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& each) { return each.uuid == quota.gpu; });
        cards.push_back(gpu == gpus.end() ? 0 : model::Bytes(gpu->memory_total).mib());
    }
    return cards;
}

/// The largest n with floor(card × n / dev) ≤ limit: n ≤ ((limit + 1) × dev − 1) / card.
std::uint64_t parts(std::uint64_t limit_mib, std::uint64_t card_mib, std::uint64_t dev) {
    return std::min(dev, ((limit_mib + 1) * dev - 1) / card_mib);
}

bool all_equal(const std::vector<std::uint64_t>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [&](std::uint64_t n) { return n == numbers.front(); });
}

std::string joined(const std::vector<std::uint64_t>& numbers) {
    std::string list;
    for (const std::uint64_t n : numbers) list += (list.empty() ? "" : ",") + std::to_string(n);
    return list;
}

}  // namespace

Variables granted_environment(const std::vector<Quota>& quotas, const std::vector<Gpu>& gpus) {
    std::string uuids;
    for (const Quota& quota : quotas) uuids += (uuids.empty() ? "" : ",") + quota.gpu;
    Variables variables = {{"CUDA_VISIBLE_DEVICES", uuids}, {std::string(names::kNvidiaDevices), uuids}};

    const auto cards = cards_of(quotas, gpus);
    std::vector<std::uint64_t> shares;
    std::vector<std::uint64_t> devs;
    for (std::size_t i = 0; i < quotas.size(); ++i) {
        if (cards[i] < kMibPerGib) return variables;
        devs.push_back(cards[i] / kMibPerGib);
        shares.push_back(parts(model::Bytes(quotas[i].memory_limit).mib(), cards[i], devs.back()));
        if (shares.back() == 0) return variables;
    }
    // One number stands for all GPUs. A list of the one needs a list of the other, or it would look shorter.
    const bool alike = all_equal(devs);
    if (alike && !devs.empty()) devs.resize(1);
    if (alike && all_equal(shares) && !shares.empty()) shares.resize(1);
    variables.emplace(names::kMemContainer, joined(shares));
    variables.emplace(names::kMemDev, joined(devs));
    return variables;
}

}  // namespace cgpu::client
