#include "core/admission/seat.hpp"

#include <algorithm>

#include "core/limits/allowance.hpp"
#include "core/model/quote.hpp"
#include "core/request/memory_share.hpp"
#include "core/request/percent.hpp"

namespace cgpu::admission {
namespace {

using model::Bytes;
using model::Gpu;
using model::Mode;
using model::Node;
using model::Objection;
using model::Policy;
using request::Request;
using Reason = model::Refusal::Reason;

tl::expected<Bytes, Objection> memory_on(const Gpu& gpu, const Request& request, std::size_t position,
                                         Bytes default_memory) {
    if (const auto kept = request.kept_at(position).memory_limit) return *kept;
    const request::MemoryAsk* ask = request.memory_at(position);
    if (ask == nullptr) return default_memory;
    if (const auto* exact = std::get_if<Bytes>(ask)) return *exact;
    const auto& share = std::get<request::CardShare>(*ask);
    const auto mib = request::memory_limit_mib(gpu.total.mib(), share.gib, share.dev, share.in_mib);
    if (!mib)
        return object(
            Reason::invalid, mib.error(),
            "ALIYUN_COM_GPU_MEM_DEV=" + std::to_string(std::max<std::uint64_t>(gpu.total.mib() / 1024, 1)) +
                " (the GiB of this card) and no more than that in ALIYUN_COM_GPU_MEM_CONTAINER, or CGPU_MEM");
    return Bytes::from_mib(*mib);
}

/// The weight that was requested as a number; null if the configuration decides. A kept weight also replaces
/// a percentage, because it was set as a number of slices.
tl::expected<std::optional<std::uint32_t>, Objection> asked_weight(const Gpu& gpu, const Request& request,
                                                                   std::size_t position) {
    const std::uint32_t max_inst = gpu.settings.max_inst;
    const auto kept = request.kept_at(position).weight;
    const std::optional<std::uint32_t> weight = kept ? kept : request.weight;
    if (weight && *weight > max_inst)
        return object_to(Reason::invalid, "weight " + std::to_string(*weight),
                         "max_inst is " + std::to_string(max_inst),
                         "use a weight from 1 to " + std::to_string(max_inst));
    if (!request.percent || kept) return weight;
    const auto slices = request::percent_to_slices(*request.percent, max_inst);
    if (!slices)
        return object(Reason::invalid, slices.error(),
                      "use one of the two, or CGPU_WEIGHT with the number of slices");
    if (weight && *weight != *slices)
        return object(Reason::invalid,
                      "weight " + std::to_string(*weight) + " and " + std::to_string(*request.percent) +
                          "% (" + std::to_string(*slices) + " slices of " + std::to_string(max_inst) +
                          ") are both asked for",
                      "set only one of the two");
    return slices.value();
}

std::uint32_t configured_weight(const Request& request, const Defaults& defaults) {
    const auto named = defaults.weights.find(request.container_name);
    return named == defaults.weights.end() ? defaults.default_weight : named->second;
}

/// Why the part of the compute that was asked for has no effect, and what gives it one.
std::string ignored(const Request& request, const Seat& seat, Mode mode) {
    const std::string asked = request.percent ? std::to_string(*request.percent) + "% of the compute"
                                              : "weight " + std::to_string(seat.wanted_weight);
    if (mode != Mode::memory_compute)
        return asked + " has no effect in mode " + std::string(model::to_string(mode)) +
               ", in which the driver divides the compute. Try: cgpuctl set-mode memory+compute, or ask for "
               "no compute.";
    return asked + " has no effect under policy " + std::string(model::to_string(seat.gpu->settings.policy)) +
           ". Try: cgpuctl set-policy " + std::to_string(seat.gpu->index) + " proportional.";
}

/// Adds warnings about the granted weight.
void warn_about_weight(Seat& seat, const Request& request, bool asked, Mode mode) {
    const Policy policy = mode == Mode::memory_compute ? seat.gpu->settings.policy : Policy::native;
    const std::string where = describe(*seat.gpu);
    const std::uint32_t granted = seat.quota.weight;
    if (granted == 0)
        seat.warnings.push_back(
            where + ": no weight is free, so the weight is 0: " +
            (policy == Policy::native
                 ? "without effect under policy native, but it cannot compute under another one"
                 : "it cannot compute until it is given a weight") +
            ". Try: lower the weight of another instance, then cgpuctl set-weight.");
    else if (granted < seat.wanted_weight && asked)
        seat.warnings.push_back(where + ": weight " + std::to_string(seat.wanted_weight) +
                                " was asked for and " + std::to_string(granted) +
                                " is free, so the weight is " + std::to_string(granted) +
                                ". Try: lower the weight of another instance, then cgpuctl set-weight.");
    const bool asks_part = asked && (seat.wanted_weight > 1 || request.percent);
    if (asks_part && !model::weight_counts(policy))
        seat.warnings.push_back(where + ": " + ignored(request, seat, mode));
}

}  // namespace

tl::expected<void, Objection> check_drained(const Gpu& gpu) {
    // What keeps everybody from the GPU is said first: undrain wouldn't help.
    if (!gpu.drained || !gpu.present || !gpu.obstacle.empty()) return {};
    return object(Reason::busy, std::string(kDrained),
                  "use another GPU, or cgpuctl undrain " + std::to_string(gpu.index));
}

tl::expected<Seat, Objection> find_seat(const Node& node, const Gpu& gpu, const Request& request,
                                        std::size_t position, Mode mode, const Defaults& defaults) {
    if (auto checked = check_drained(gpu); !checked) return tl::unexpected(checked.error());
    const auto memory = memory_on(gpu, request, position, defaults.default_memory);
    if (!memory) return tl::unexpected(memory.error());
    const auto asked = asked_weight(gpu, request, position);
    if (!asked) return tl::unexpected(asked.error());

    Seat seat;
    seat.gpu = &gpu;
    seat.free_before = node.free_memory(gpu.uuid);
    // All of the memory means the whole GPU, so by default all of its compute is granted, too.
    const bool all_memory = memory->mib() >= gpu.total.mib();
    seat.wanted_weight =
        asked->value_or(all_memory ? gpu.settings.max_inst : configured_weight(request, defaults));
    seat.quota.gpu = gpu.uuid;
    seat.quota.memory_limit = *memory;
    seat.quota.weight = std::min(seat.wanted_weight, node.free_weight(gpu.uuid));
    const model::KeptFigures kept = request.kept_at(position);
    seat.quota.high_priority = kept.high_priority.value_or(request.high_priority.value_or(false));
    // As in Node::set_weight(): with less than 100 % it no longer has the whole GPU.
    seat.quota.exclusive = request.percent == 100U && seat.wanted_weight >= gpu.settings.max_inst;
    // If less was free, it has a fixed number of slices instead of its percentage.
    if (seat.quota.weight == seat.wanted_weight && !kept.weight) seat.quota.percent = request.percent;
    if (auto checked = node.check_quota(mode, seat.quota); !checked) return tl::unexpected(checked.error());
    if (defaults.allowance != nullptr)
        if (auto allowed = defaults.allowance->check(seat.quota); !allowed)
            return tl::unexpected(allowed.error());

    const Policy policy = mode == Mode::memory_compute ? gpu.settings.policy : Policy::native;
    if (seat.quota.weight == 0 && policy != Policy::native && defaults.no_weight == NoWeight::refuse)
        return object_to(Reason::no_space, "weight " + std::to_string(seat.wanted_weight),
                         "0 of " + std::to_string(gpu.settings.max_inst) + " is free",
                         "lower the weight of another instance, stop one, or raise max_inst (25 at most)");
    warn_about_weight(seat, request, asked->has_value(), mode);
    return seat;
}

}  // namespace cgpu::admission
