#include <algorithm>
#include <set>
#include <tuple>

#include "core/model/node.hpp"
#include "core/model/percent.hpp"

/// The transitions of GPUs.
namespace cgpu::model {
namespace {

using Reason = Refusal::Reason;

std::string range_text(std::uint32_t low, std::uint32_t high) {
    return std::to_string(low) + " to " + std::to_string(high);
}

tl::expected<void, Refusal> check_seen(const std::vector<Sighting>& seen) {
    std::set<Uuid> uuids;
    std::set<std::uint32_t> indices;
    for (const auto& [gpu, settings] : seen) {
        const std::string what = "GPU " + std::to_string(gpu.index) + " (" + gpu.uuid.to_string() + ")";
        if (!uuids.insert(gpu.uuid).second || !indices.insert(gpu.index).second)
            return refuse(Reason::invalid, what, "the driver lists it twice",
                          "look at the output of nvidia-smi -L");
        if (gpu.total == Bytes{})
            return refuse(Reason::invalid, what, "the driver says that it has no memory",
                          "look at the output of nvidia-smi");
    }
    return {};
}

/// The sum of their weights under another max_inst; a percentage that is not whole doesn't count.
std::uint32_t weights_under(const std::vector<Occupant>& there, std::uint32_t max_inst) {
    std::uint32_t sum = 0;
    for (const Occupant& occupant : there) sum += weight_under(*occupant.quota, max_inst).value_or(0);
    return sum;
}

/// `25% of instance 012b2edccd7a (web), 5% of instance abc`: the instances whose percentage would not be a
/// whole number of slices; empty: none.
std::string not_whole(const std::vector<Occupant>& there, std::uint32_t max_inst) {
    std::string text;
    for (const auto& [instance, quota] : there)
        if (!weight_under(*quota, max_inst))
            text += (text.empty() ? "" : ", ") + std::to_string(quota->percent.value_or(0)) + "% of " +
                    describe(*instance);
    return text;
}

bool fits(const std::vector<Occupant>& there, std::uint32_t max_inst) {
    return there.size() <= max_inst && not_whole(there, max_inst).empty() &&
           weights_under(there, max_inst) <= max_inst;
}

/// The other values that max_inst could have with these instances, as the beginning of a remedy: `5 or more,
/// or `, `4, 8 or 12, or `; empty: none.
std::string offer(const std::vector<Occupant>& there, std::uint32_t now) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t n = kMinMaxInst; n <= kMaxMaxInst; ++n)
        if (fits(there, n)) all.push_back(n);
    if (all.size() > 1 && all.size() == kMaxMaxInst - all.front() + 1)
        return std::to_string(all.front()) + " or more, or ";
    if (all.empty() || (all.size() == 1 && all.front() == now)) return {};
    std::string text;
    for (const std::uint32_t n : all) {
        if (!text.empty()) text += n == all.back() ? " or " : ", ";
        text += std::to_string(n);
    }
    return text + ", or ";
}

/// `now`: the present value. Refused: busy, for `where`.
tl::expected<void, Refusal> check_max_inst(const std::vector<Occupant>& there, std::uint32_t now,
                                           std::uint32_t max_inst, std::string_view where) {
    if (fits(there, max_inst)) return {};
    if (const std::string whose = not_whole(there, max_inst); !whose.empty())
        return refuse(
            Reason::busy, where,
            "percentages of the compute that were asked for would change, because they are no whole "
            "number of " +
                std::to_string(max_inst) + " slices: " + whose,
            offer(there, now) + "cgpuctl set-weight, which makes a percentage a number of slices");
    if (const std::uint32_t weights = weights_under(there, max_inst); weights > max_inst)
        return refuse(Reason::busy, where,
                      "the weights of its instances would add up to " + std::to_string(weights),
                      offer(there, now) + "lower a weight first");
    return refuse(Reason::busy, where, "it has " + std::to_string(there.size()) + " instances",
                  offer(there, now) + "stop an instance first");
}

}  // namespace

tl::expected<Gpu*, Refusal> Node::gpu_for(std::string_view what, const Uuid& uuid) {
    for (Gpu& gpu : gpus_)
        if (gpu.uuid == uuid) return &gpu;
    return refuse(Reason::not_found, what, "no GPU " + uuid.to_string() + " on this node",
                  "name a GPU that cgpuctl status shows");
}

void Node::sort_gpus() {
    std::sort(gpus_.begin(), gpus_.end(), [](const Gpu& a, const Gpu& b) {
        return std::tuple(!a.present, a.index, a.uuid) < std::tuple(!b.present, b.index, b.uuid);
    });
}

tl::expected<Change, Refusal> Node::sync_gpus(const std::vector<Sighting>& seen,
                                              const std::vector<LostGpu>& lost) {
    if (auto checked = check_seen(seen); !checked) return tl::unexpected(checked.error());
    std::vector<Gpu> next = gpus_;
    for (Gpu& gpu : next) gpu.present = false;
    for (const Sighting& sighting : seen) {
        const Uuid& uuid = sighting.gpu.uuid;
        auto known = std::find_if(next.begin(), next.end(), [&](const Gpu& g) { return g.uuid == uuid; });
        if (known == next.end()) {
            next.push_back(Gpu{sighting.gpu, sighting.settings_if_new, true});
        } else {
            static_cast<SeenGpu&>(*known) = sighting.gpu;
            known->present = true;
        }
    }
    for (Gpu& gpu : next) {
        const auto its = std::find_if(lost.begin(), lost.end(),
                                      [&](const LostGpu& other) { return other.index == gpu.index; });
        if (!gpu.present && its != lost.end()) gpu.obstacle = its->why;
    }
    std::swap(gpus_, next);
    sort_gpus();
    return gpus_ == next ? Change::unchanged : changed();
}

Change Node::lose_driver(const std::string& why) {
    const std::vector<Gpu> before = gpus_;
    for (Gpu& gpu : gpus_) {
        if (gpu.present) gpu.obstacle = why;
        gpu.present = false;
    }
    sort_gpus();
    return gpus_ == before ? Change::unchanged : changed();
}

template <class T>
Change Node::put(Gpu& gpu, T GpuSettings::*setting, bool SetByHand::*by_hand, T value, Lasts lasts) {
    const auto entry = until_reboot_.gpus.find(gpu.uuid);
    const GpuSettings before = gpu.settings;
    const GpuSettings kept_before = entry == until_reboot_.gpus.end() ? before : entry->second;
    GpuSettings kept = kept_before;
    const auto take = [&](GpuSettings& settings) {
        settings.*setting = value;
        if (by_hand != nullptr) settings.by_hand.*by_hand = lasts != Lasts::as_configured;
    };
    take(gpu.settings);
    if (lasts != Lasts::until_reboot) take(kept);
    if (before == gpu.settings && kept_before == kept) return Change::unchanged;
    if (kept == gpu.settings)
        until_reboot_.gpus.erase(gpu.uuid);
    else
        until_reboot_.gpus.insert_or_assign(gpu.uuid, kept);
    return changed();
}

void Node::fit_weights(const Uuid& gpu, std::uint32_t max_inst) {
    for (const auto& occupant : occupants_of(gpu))
        for (Quota& quota : instances_.own(occupant.instance->id)->quotas)
            if (quota.gpu == gpu) quota.weight = weight_under(quota, max_inst).value_or(quota.weight);
}

Change Node::follow(const Uuid& uuid, const GpuSettings& configured) {
    const auto found =
        std::find_if(gpus_.begin(), gpus_.end(), [&](const Gpu& gpu) { return gpu.uuid == uuid; });
    if (found == gpus_.end()) return Change::unchanged;
    const auto entry = until_reboot_.gpus.find(uuid);
    const GpuSettings before = found->settings;
    const GpuSettings kept_before = entry == until_reboot_.gpus.end() ? before : entry->second;
    const auto take = [&](GpuSettings& settings) {
        if (!settings.by_hand.policy) settings.policy = configured.policy;
        if (!settings.by_hand.prio_ratio) settings.prio_ratio = configured.prio_ratio;
    };
    take(found->settings);
    const auto there = occupants_of(uuid);
    if (!before.by_hand.max_inst && fits(there, configured.max_inst)) {
        fit_weights(uuid, configured.max_inst);
        found->settings.max_inst = configured.max_inst;
    }
    if (entry != until_reboot_.gpus.end()) {
        // The instances will have ended when it holds again.
        take(entry->second);
        if (!entry->second.by_hand.max_inst) entry->second.max_inst = configured.max_inst;
    }
    const GpuSettings kept = entry == until_reboot_.gpus.end() ? found->settings : entry->second;
    if (before == found->settings && kept_before == kept) return Change::unchanged;
    if (entry != until_reboot_.gpus.end() && kept == found->settings) until_reboot_.gpus.erase(entry);
    return changed();
}

tl::expected<Change, Refusal> Node::set_policy(const Uuid& uuid, Policy policy, Lasts lasts) {
    auto gpu = gpu_for("policy " + std::string(to_string(policy)), uuid);
    if (!gpu) return tl::unexpected(gpu.error());
    return put(**gpu, &GpuSettings::policy, &SetByHand::policy, policy, lasts);
}

tl::expected<Change, Refusal> Node::set_max_inst(const Uuid& uuid, std::uint32_t max_inst, Lasts lasts) {
    const std::string what = "max_inst " + std::to_string(max_inst);
    auto gpu = gpu_for(what, uuid);
    if (!gpu) return tl::unexpected(gpu.error());
    const std::string where = what + " on " + describe(**gpu);
    if (max_inst < kMinMaxInst || max_inst > kMaxMaxInst)
        return refuse(Reason::invalid, where, "it is out of range", range_text(kMinMaxInst, kMaxMaxInst));
    if (auto checked = check_max_inst(occupants_of(uuid), (*gpu)->settings.max_inst, max_inst, where);
        !checked)
        return tl::unexpected(checked.error());
    fit_weights(uuid, max_inst);
    return put(**gpu, &GpuSettings::max_inst, &SetByHand::max_inst, max_inst, lasts);
}

tl::expected<Change, Refusal> Node::set_prio_ratio(const Uuid& uuid, std::uint32_t per_cent, Lasts lasts) {
    const std::string what = "prio_ratio " + std::to_string(per_cent);
    auto gpu = gpu_for(what, uuid);
    if (!gpu) return tl::unexpected(gpu.error());
    if (per_cent < kMinPrioRatio || per_cent > kMaxPrioRatio)
        return refuse(Reason::invalid, what + " on " + describe(**gpu), "it is out of range",
                      range_text(kMinPrioRatio, kMaxPrioRatio) + " (per cent)");
    return put(**gpu, &GpuSettings::prio_ratio, &SetByHand::prio_ratio, per_cent, lasts);
}

tl::expected<Change, Refusal> Node::set_mode(const Uuid& uuid, Mode mode) {
    auto gpu = gpu_for("mode " + std::string(to_string(mode)), uuid);
    if (!gpu) return tl::unexpected(gpu.error());
    return put(**gpu, &GpuSettings::mode, nullptr, mode, Lasts::until_set_again);
}

tl::expected<Change, Refusal> Node::set_drained(const Uuid& uuid, bool drained) {
    auto gpu = gpu_for(drained ? "drain" : "undrain", uuid);
    if (!gpu) return tl::unexpected(gpu.error());
    if ((*gpu)->drained == drained) return Change::unchanged;
    (*gpu)->drained = drained;
    return changed();
}

}  // namespace cgpu::model
